/// The fully connected layer in bf16 on a processor for which oneDNN has its products only in float32.
#pragma once

#include <memory>

#include "convoy/ops/linear.h"

#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// Creates a layer that widens operands and rounds results, some rows at a time, so that the float32 values stay in the
/// cache.
std::unique_ptr<LinearOp> make_widened_linear(const LinearSpec& spec, const Resources& resources);

}  // namespace convoy::ops::cpu
