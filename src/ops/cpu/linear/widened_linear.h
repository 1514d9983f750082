/// The linear layer in bf16, for a processor on which oneDNN has matrix products only in float32.
#pragma once

#include <memory>

#include "convoy/ops/linear.h"

#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

/// Creates a linear layer that converts its bf16 operands to float32, multiplies them and rounds the results to bf16,
/// some rows at a time, so that the float32 values stay in the cache.
std::unique_ptr<LinearOp> make_widened_linear(const LinearSpec& spec, const Resources& resources);

}  // namespace convoy::ops::cpu
