/// The three matrix products of a fully connected layer, for code of every device.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/ops/linear.h"

namespace convoy::ops {

/// d (M,N) = a (M,K) b (K,N) [+ bias (N) in each row], row-major, accumulated in float32.
struct MatmulSpec {
  std::int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false;                  ///< whether a is (K,M) in memory
  bool b_transposed = false;                  ///< whether b is (N,K) in memory
  bool bias = false;                          ///< whether a bias of output_type is added
  DataType input_type = DataType::kFloat32;   ///< type of a and b
  DataType output_type = DataType::kFloat32;  ///< type of d: float32 or input_type
};

/// Returns the spec of forward's product: y (N,K) = x (N,C) w^T (C,K) + b.
inline MatmulSpec forward_product(const LinearSpec& spec) {
  return {.m = spec.n,
          .n = spec.num_outputs,
          .k = spec.num_inputs,
          .b_transposed = true,
          .bias = true,
          .input_type = spec.type,
          .output_type = spec.y_type};
}

/// Returns the spec of the activation function that the linear layer itself applies to y. spec.activation must be set.
inline ActivationSpec activation_of(const LinearSpec& spec) {
  return {.count = spec.n * spec.num_outputs, .activation = *spec.activation, .type = spec.y_type};
}

/// Returns the spec of the data gradient's product: dx (N,C) = dy (N,K) w (K,C).
inline MatmulSpec backward_input_product(const LinearSpec& spec) {
  return {.m = spec.n, .n = spec.num_inputs, .k = spec.num_outputs, .input_type = spec.type, .output_type = spec.type};
}

/// Returns the spec of the weight gradient's product: dw (K,C) = dy^T (K,N) x (N,C), in float32.
inline MatmulSpec backward_weight_product(const LinearSpec& spec) {
  return {.m = spec.num_outputs, .n = spec.num_inputs, .k = spec.n, .a_transposed = true, .input_type = spec.type};
}

}  // namespace convoy::ops
