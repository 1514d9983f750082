/// The contract of the fully connected layer.
#pragma once

#include <cstdint>

namespace convoy::ops {

struct LinearSpec {
  std::int64_t n = 0;            ///< samples N
  std::int64_t num_inputs = 0;   ///< C
  std::int64_t num_outputs = 0;  ///< K

  double forward_flop() const { return 2.0 * static_cast<double>(n * num_inputs * num_outputs); }
};

/// y  = x w^T + b    x (N,C)   w (K,C)   b (K)   y (N,K)
/// dx = dy w         dw = dy^T x         db = column sums of dy; all overwritten
class LinearOp {
 public:
  virtual ~LinearOp() = default;

  virtual void forward(const float* x, const float* w, const float* b, float* y) = 0;
  virtual void backward_input(const float* dy, const float* w, float* dx) = 0;
  virtual void backward_weight(const float* x, const float* dy, float* dw, float* db) = 0;
};

}  // namespace convoy::ops
