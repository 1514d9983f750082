/// The contract of two batch normalisations, their sum and a ReLU in one operation. A ResNet block that changes the
/// shape needs it, since its shortcut is normalised, too. Memory that both normalisations use is read and written once.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy::ops {

struct BatchNormSumSpec {
  Shape x;                             ///< (N,H,W,C), the shape of both branches and of y
  float epsilon = 1e-5f;               ///< added to the variances of both branches
  DataType type = DataType::kFloat32;  ///< storage type of (N,H,W,C) tensors; (C) tensors are float32
};

struct BatchNormSumInputs {
  struct Branch {
    const void* x = nullptr;       ///< input of this branch, (N,H,W,C)
    const float* gamma = nullptr;  ///< scale of each channel, (C)
    const float* beta = nullptr;   ///< shift of each channel, (C)
  };
  Branch a, b;
};

struct BatchNormSumOutputs {
  struct Branch {
    float* mean = nullptr;     ///< (C) means of the N*H*W values of this micro-batch; backward reads them
    float* inv_std = nullptr;  ///< (C) 1 / sqrt(biased variance + epsilon) of this micro-batch; backward reads it
    /// (C) unbiased variances for the running statistics, as BatchNormOutputs::var_unbiased.
    float* var_unbiased = nullptr;
  };
  void* y = nullptr;  ///< output, (N,H,W,C), overwritten
  /// A mask of relu_mask_bytes(y, type) bytes that tells which values of y are positive; backward reads it.
  std::uint8_t* mask = nullptr;
  Branch a, b;
};

struct BatchNormSumInference {
  struct Branch {
    const void* x = nullptr;
    const float* gamma = nullptr;
    const float* beta = nullptr;
    const float* running_mean = nullptr;
    const float* running_var = nullptr;
  };
  Branch a, b;
  void* y = nullptr;
};

struct BatchNormSumGradInputs {
  struct Branch {
    const void* x = nullptr;  ///< the x of forward()
    const float* gamma = nullptr;
    const float* mean = nullptr;
    const float* inv_std = nullptr;
    const float* var_unbiased = nullptr;
  };
  const void* dy = nullptr;  ///< gradient with respect to y, (N,H,W,C)
  /// Second part of dy, (N,H,W,C): it is added to dy first, and the sum is rounded to spec.type. Null: dy is the whole
  /// gradient.
  const void* dy_addend = nullptr;
  const std::uint8_t* mask = nullptr;  ///< the mask that forward wrote: which values of y are positive
  Branch a, b;
};

struct BatchNormSumGradOutputs {
  struct Branch {
    /// Gradient with respect to x, (N,H,W,C), overwritten; may be dy or dy_addend, never the other branch's dx.
    void* dx = nullptr;
    float* dgamma = nullptr;  ///< gradient with respect to gamma, (C), overwritten
    float* dbeta = nullptr;   ///< gradient with respect to beta, (C), overwritten; the same values in both branches
    float* mean = nullptr;    ///< (C) overwritten by the micro-batch's means, as the "gradient" of the running mean
    /// (C) overwritten by the micro-batch's variances, as the "gradient" of the running variance.
    float* var_unbiased = nullptr;
  };
  Branch a, b;
};

struct BatchNormSumInferenceGrad {
  struct Branch {
    const float* gamma = nullptr;
    const float* running_var = nullptr;
    /// Gradient with respect to x, (N,H,W,C), overwritten; may be dy or dy_addend, never the other branch's dx.
    void* dx = nullptr;
  };
  const void* dy = nullptr;  ///< gradient with respect to y, (N,H,W,C)
  /// Second part of dy, (N,H,W,C): it is added to dy first, and the sum is rounded to spec.type. Null: dy is the whole
  /// gradient.
  const void* dy_addend = nullptr;
  const void* y = nullptr;  ///< the y of infer(); its positive values are those whose gradient the ReLU lets through
  Branch a, b;
};

/// The sum of two batch normalisations:
///   y = relu(bn(a) + bn(b))    bn(x) = gamma * (x - mean) / sqrt(var + epsilon) + beta
/// Each branch has its own gamma, beta, mean and var. All guarantees of BatchNormOp hold. In float32 the results have
/// the bits of two BatchNormOps; in 16-bit types they differ, since bn(b) is not rounded before it is added.
class BatchNormSumOp {
 public:
  using Spec = BatchNormSumSpec;
  static constexpr const char* kName = "two batch normalisations";

  virtual ~BatchNormSumOp() = default;

  virtual void forward(const BatchNormSumInputs& in, const BatchNormSumOutputs& out) = 0;
  /// Computes y again from the means and inv_stds that forward left in `out`. Overwrites y alone, with the same bits.
  virtual void forward_again(const BatchNormSumInputs& in, const BatchNormSumOutputs& out) = 0;
  virtual void infer(const BatchNormSumInference& args) = 0;
  virtual void backward(const BatchNormSumGradInputs& in, const BatchNormSumGradOutputs& out) = 0;
  /// The backward pass of infer(): dx = g * gamma / sqrt(running_var + epsilon) in each branch. g is dy if infer's y is
  /// positive, else 0.
  virtual void infer_backward(const BatchNormSumInferenceGrad& args) = 0;
};

}  // namespace convoy::ops
