/// The random numbers of dropout, computed by the counter-based generator Philox, for the code of every device.
#pragma once

#include <cstdint>

#include <Random123/philox.h>

#include "convoy/ops/dropout.h"

namespace convoy::ops {

using DrawnWords = r123::Philox4x32::ctr_type;

/// Returns the four 32-bit random words of Philox block number `block` of a layer. DropoutOp says which values use
/// them.
R123_CUDA_DEVICE inline DrawnWords draw_words(const DrawKey& key, std::uint64_t layer, std::uint32_t block) {
  const std::uint64_t mixed = key.seed ^ layer;
  return r123::Philox4x32()({{block, static_cast<std::uint32_t>(key.micro_batch), static_cast<std::uint32_t>(key.step),
                              static_cast<std::uint32_t>(key.step >> 32)}},
                            {{static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32)}});
}

}  // namespace convoy::ops
