/// The contract of the fully connected layer.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

struct LinearSpec {
  std::int64_t n = 0;                  ///< samples N
  std::int64_t num_inputs = 0;         ///< C
  std::int64_t num_outputs = 0;        ///< K
  DataType type = DataType::kFloat32;  ///< of x, w, dx, dy

  double forward_flop() const { return 2.0 * static_cast<double>(n * num_inputs * num_outputs); }
};

/// y  = x w^T + b    x (N,C)   w (K,C)   b (K)   y (N,K)
/// dx = dy w         dw = dy^T x         db = column sums of dy; all overwritten
/// y (the logits), b, dw and db are float32, all else of spec.type; accumulated in float32.
class LinearOp {
 public:
  virtual ~LinearOp() = default;

  virtual void forward(const void* x, const void* w, const float* b, float* y) = 0;
  virtual void backward_input(const void* dy, const void* w, void* dx) = 0;
  virtual void backward_weight(const void* x, const void* dy, float* dw, float* db) = 0;
};

}  // namespace convoy::ops
