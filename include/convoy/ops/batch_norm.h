/// The contract of batch normalisation, with the residual join and the ReLU that follow it in a ResNet.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy::ops {

struct BatchNormSpec {
  Shape x;                ///< shape of x and y, (N,H,W,C)
  bool relu = false;      ///< a ReLU follows: y = max(0, ...)
  bool residual = false;  ///< a second input is added before the ReLU
  float epsilon = 1e-5f;
  DataType type = DataType::kFloat32;  ///< storage type of (N,H,W,C) tensors; (C) tensors are float32
};

/// The size in bytes of the mask that batch normalisation's forward writes for backward: it tells which values of y,
/// stored as `type`, are positive after the ReLU. One byte covers a group of neighbouring values: as many as fit into
/// 16 bytes if that number divides C, else 4 if 4 divides C, else 1. A device may pack the bits in any way that fits
/// into this size.
inline std::int64_t relu_mask_bytes(const Shape& y, DataType type) {
  const std::int64_t widest = 16 / size_of(type), width = y.c % widest == 0 ? widest : y.c % 4 == 0 ? 4 : 1;
  return y.count() / width;
}

struct BatchNormInputs {
  const void* x = nullptr;         ///< input, (N,H,W,C)
  const void* residual = nullptr;  ///< second input, (N,H,W,C), added before the ReLU; only with spec.residual
  const float* gamma = nullptr;    ///< scale of each channel, (C)
  const float* beta = nullptr;     ///< shift of each channel, (C)
};

struct BatchNormOutputs {
  void* y = nullptr;         ///< output, (N,H,W,C), overwritten
  float* mean = nullptr;     ///< (C) means of the N*H*W values of this micro-batch; backward reads them
  float* inv_std = nullptr;  ///< (C) 1 / sqrt(biased variance + epsilon) of this micro-batch; backward reads it
  /// (C) unbiased variances for the running statistics: sum of squared deviations from the mean / max(1, N*H*W - 1).
  float* var_unbiased = nullptr;
  /// A mask of relu_mask_bytes() bytes that tells which values of y are positive, only with spec.relu and
  /// spec.residual; backward reads it.
  std::uint8_t* mask = nullptr;
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
  const void* dy = nullptr;  ///< gradient with respect to y, (N,H,W,C)
  /// Second part of dy, (N,H,W,C), only with spec.residual: it is added to dy first, and the sum is rounded to
  /// spec.type. Null: dy is the whole gradient.
  const void* dy_addend = nullptr;
  const void* x = nullptr;             ///< the x of forward()
  const std::uint8_t* mask = nullptr;  ///< the mask that forward() wrote; only with spec.relu and spec.residual
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* inv_std = nullptr;
  const float* var_unbiased = nullptr;
};

struct BatchNormGradOutputs {
  void* dx = nullptr;  ///< gradient with respect to x, (N,H,W,C), overwritten; may be dy or dy_addend
  /// Gradient with respect to the residual, (N,H,W,C), only with spec.residual. Overwritten by dy, or by 0 where the
  /// ReLU's output is 0. May be dy or dy_addend (then dx is neither of them), never dx.
  void* dresidual = nullptr;
  float* dgamma = nullptr;  ///< gradient with respect to gamma, (C), overwritten
  float* dbeta = nullptr;   ///< gradient with respect to beta, (C), overwritten
  float* mean = nullptr;    ///< (C) overwritten by the micro-batch's means, as the "gradient" of the running mean
  /// (C) overwritten by the micro-batch's variances, as the "gradient" of the running variance.
  float* var_unbiased = nullptr;
};

/// The arguments of BatchNormOp::infer_backward(). It needs no x: with fixed statistics, batch normalisation multiplies
/// each channel by a constant.
struct BatchNormInferenceGrad {
  const void* dy = nullptr;  ///< gradient with respect to y, (N,H,W,C)
  /// Second part of dy, (N,H,W,C): it is added to dy first, and the sum is rounded to spec.type. Null: dy is the whole
  /// gradient.
  const void* dy_addend = nullptr;
  /// The y of infer(); its positive values are those whose gradient the ReLU lets through; only with spec.relu.
  const void* y = nullptr;
  const float* gamma = nullptr;
  const float* running_var = nullptr;
  void* dx = nullptr;  ///< gradient with respect to x, (N,H,W,C), overwritten; may be dy or dy_addend
  /// Gradient with respect to the residual, (N,H,W,C), only with spec.residual; overwritten; may be dy or dy_addend,
  /// never dx.
  void* dresidual = nullptr;
};

/// Batch normalisation: y = relu(gamma * (x - mean) / sqrt(var + epsilon) + beta [+ residual])
/// Training uses the statistics of the micro-batch, inference the running ones. The same inputs give the same bits, on
/// any number of threads. The statistics are exact enough for a mean of 100 with a standard deviation of 0.1 (no naive
/// E[x^2] - E[x]^2 in float32). Ioffe & Szegedy 2015, algorithm 1; backward from its section 3.
class BatchNormOp {
 public:
  using Spec = BatchNormSpec;
  static constexpr const char* kName = "batch normalisation";

  virtual ~BatchNormOp() = default;

  virtual void forward(const BatchNormInputs& in, const BatchNormOutputs& out) = 0;
  /// Computes y again from the mean and inv_std that forward left in `out`. Overwrites y alone, with the same bits.
  virtual void forward_again(const BatchNormInputs& in, const BatchNormOutputs& out) = 0;
  virtual void infer(const BatchNormInference& args) = 0;
  virtual void backward(const BatchNormGradInputs& in, const BatchNormGradOutputs& out) = 0;
  /// The backward pass of infer(): dresidual = g, dx = g * gamma / sqrt(running_var + epsilon). g is dy if spec.relu is
  /// false or if infer's y is positive, else 0.
  virtual void infer_backward(const BatchNormInferenceGrad& args) = 0;
};

}  // namespace convoy::ops
