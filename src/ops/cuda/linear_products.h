/// The three matrix products of a fully connected layer.
#pragma once

#include "convoy/ops/linear.h"

#include "ops/cuda/matmul.h"

namespace convoy::ops::cuda {

/// y = x w^T + b
inline MatmulSpec forward_product(const LinearSpec& spec) {
  return {.m = spec.n,
          .n = spec.num_outputs,
          .k = spec.num_inputs,
          .b_transposed = true,
          .bias = true,
          .input_type = spec.type};
}

/// dx = dy w
inline MatmulSpec backward_input_product(const LinearSpec& spec) {
  return {.m = spec.n, .n = spec.num_inputs, .k = spec.num_outputs, .input_type = spec.type, .output_type = spec.type};
}

/// dw = dy^T x
inline MatmulSpec backward_weight_product(const LinearSpec& spec) {
  return {.m = spec.num_outputs, .n = spec.num_inputs, .k = spec.n, .a_transposed = true, .input_type = spec.type};
}

}  // namespace convoy::ops::cuda
