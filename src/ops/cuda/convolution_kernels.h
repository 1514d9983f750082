/// The kernel that a convolution needs in addition to cuDNN's engines: it widens gradients to float32.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

/// Writes `from`, which is of `type`, exactly to `to`. Both are aligned to 16 bytes, and they do not overlap.
void widen(DataType type, const void* from, float* to, std::int64_t count, const Context& context);

}  // namespace convoy::ops::cuda
