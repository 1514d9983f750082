/// The contract of the fully connected layer.
#pragma once

#include <cstdint>
#include <optional>

#include "convoy/base/data_type.h"
#include "convoy/ops/activation.h"

namespace convoy::ops {

struct LinearSpec {
  std::int64_t n = 0;                  ///< number of rows, N: samples, or the tokens of all samples
  std::int64_t num_inputs = 0;         ///< number of inputs, C
  std::int64_t num_outputs = 0;        ///< number of outputs, K
  DataType type = DataType::kFloat32;  ///< storage type of x, w, dy and dx
  /// The storage type of y, of b and of the activated y: float32 for logits, or the same as `type` for a layer inside a
  /// network.
  DataType y_type = DataType::kFloat32;
  std::optional<Activation> activation = {};  ///< activation function f that forward also applies to y; empty: none

  double forward_flop() const { return 2.0 * static_cast<double>(n * num_inputs * num_outputs); }
};

struct LinearOutputs {
  /// Output before the activation, (N,K), overwritten; may be null if it is not wanted and there is an activation.
  void* y = nullptr;
  void* activated = nullptr;  ///< output f(y), (N,K), overwritten, only with an activation; may not be y
};

/// A fully connected layer:
/// y  = x w^T + b    x (N,C)   w (K,C)   b (K)   y (N,K)      activated = f(y)
/// dx = dy w         dw = dy^T x         db = column sums of dy; all overwritten
/// Sums are float32; dw and db are float32. The same inputs give the same bits, on any number of threads. f is applied
/// to the stored, rounded y, with the bits of ActivationOp. Backward takes dy, the gradient with respect to y and not
/// to f(y): the caller computes it from the gradient of f(y) by ActivationOp::backward(), given y or, for a ReLU,
/// max(0, y).
class LinearOp {
 public:
  using Spec = LinearSpec;
  static constexpr const char* kName = "linear layer";

  virtual ~LinearOp() = default;

  virtual void forward(const void* x, const void* w, const void* b, const LinearOutputs& out) = 0;
  virtual void backward_input(const void* dy, const void* w, void* dx) = 0;
  virtual void backward_weight(const void* x, const void* dy, float* dw, float* db) = 0;
};

}  // namespace convoy::ops
