/// The contract of batch normalisation, with the residual join and the ReLU that follow it in a ResNet.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy::ops {

struct BatchNormSpec {
  Shape x;                ///< (N,H,W,C)
  bool relu = false;      ///< y = max(0, .)
  bool residual = false;  ///< a second input is added before the ReLU
  float epsilon = 1e-5f;
  DataType type = DataType::kFloat32;  ///< of (N,H,W,C) tensors; (C) ones are float32
};

/// The size of what forward leaves for backward of the ReLU of y, which is stored as `type`: which values it let
/// through. Each device packs them in its own way, at best in a byte for as many values as 16 bytes hold.
inline std::int64_t relu_mask_bytes(const Shape& y, DataType type) {
  const std::int64_t widest = 16 / size_of(type), width = y.c % widest == 0 ? widest : y.c % 4 == 0 ? 4 : 1;
  return y.count() / width;
}

struct BatchNormInputs {
  const void* x = nullptr;         ///< (N,H,W,C)
  const void* residual = nullptr;  ///< (N,H,W,C), with spec.residual
  const float* gamma = nullptr;    ///< (C)
  const float* beta = nullptr;     ///< (C)
};

struct BatchNormOutputs {
  void* y = nullptr;              ///< (N,H,W,C)
  float* mean = nullptr;          ///< (C) over the N*H*W values of this micro-batch; backward reads it
  float* inv_std = nullptr;       ///< (C) 1 / sqrt(biased variance + epsilon); backward reads it
  float* var_unbiased = nullptr;  ///< (C) for the running statistics: sum of squares / max(1, N*H*W - 1)
  std::uint8_t* mask = nullptr;   ///< relu_mask_bytes, with spec.relu and spec.residual; backward reads it
};

struct BatchNormInference {
  const void* x = nullptr;
  const void* residual = nullptr;
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* running_mean = nullptr;
  const float* running_var = nullptr;
  void* y = nullptr;
};

struct BatchNormGradInputs {
  const void* dy = nullptr;            ///< (N,H,W,C)
  const void* dy_addend = nullptr;     ///< (N,H,W,C) added to dy first, with spec.residual, and the sum rounded to
                                       ///< spec.type; null: nothing
  const void* x = nullptr;             ///< forward's input
  const std::uint8_t* mask = nullptr;  ///< as forward left it, with spec.relu and spec.residual
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* inv_std = nullptr;
  const float* var_unbiased = nullptr;
};

struct BatchNormGradOutputs {
  void* dx = nullptr;         ///< (N,H,W,C), overwritten; may be dy or its addend
  void* dresidual = nullptr;  ///< (N,H,W,C), overwritten, with spec.residual: dy where the ReLU let through; may be dy
                              ///< or its addend (then dx is not), never dx
  float* dgamma = nullptr;    ///< (C) overwritten
  float* dbeta = nullptr;     ///< (C) likewise
  float* mean = nullptr;      ///< (C) a copy of the micro-batch's, where the "gradient" of the running one stands
  float* var_unbiased = nullptr;  ///< (C) likewise
};

/// Where statistics and parameters stand fixed, batch norm is a factor per channel: x is not needed.
struct BatchNormInferenceGrad {
  const void* dy = nullptr;         ///< (N,H,W,C)
  const void* dy_addend = nullptr;  ///< as in BatchNormGradInputs
  const void* y = nullptr;          ///< infer's output, the ReLU's mask; read only with spec.relu
  const float* gamma = nullptr;
  const float* running_var = nullptr;
  void* dx = nullptr;         ///< (N,H,W,C), overwritten; may be dy or its addend
  void* dresidual = nullptr;  ///< likewise, with spec.residual; then dx is another
};

/// y = relu(gamma * (x - mean) / sqrt(var + epsilon) + beta [+ residual])
/// Statistics are this micro-batch's own in training, the running ones in inference. The same bits for the same inputs,
/// on any number of threads; statistics are exact enough for a mean of 100 with a deviation of 0.1 (no naive
/// E[x^2] - E[x]^2 in float32). Ioffe & Szegedy 2015, algorithm 1; backward from its section 3.
class BatchNormOp {
 public:
  using Spec = BatchNormSpec;
  static constexpr const char* kName = "batch normalisation";

  virtual ~BatchNormOp() = default;

  virtual void forward(const BatchNormInputs& in, const BatchNormOutputs& out) = 0;
  /// forward once more, from the mean and inv_std that it left in `out`: y alone is overwritten, with the same bits.
  virtual void forward_again(const BatchNormInputs& in, const BatchNormOutputs& out) = 0;
  virtual void infer(const BatchNormInference& args) = 0;
  virtual void backward(const BatchNormGradInputs& in, const BatchNormGradOutputs& out) = 0;
  /// Backward of infer(): dresidual = g, dx = g * gamma / sqrt(running_var + epsilon), g = dy where the ReLU let
  /// through.
  virtual void infer_backward(const BatchNormInferenceGrad& args) = 0;
};

}  // namespace convoy::ops
