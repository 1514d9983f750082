/// The contract of two batch normalisations with their sum and the ReLU that follows it: of a ResNet block that changes
/// its shape, whose shortcut is normalised, too. What both have in common is read and written once.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"

namespace convoy::ops {

struct BatchNormSumSpec {
  Shape x;                             ///< (N,H,W,C), of both branches and of y
  float epsilon = 1e-5f;               ///< of both
  DataType type = DataType::kFloat32;  ///< of (N,H,W,C) tensors; (C) ones are float32
};

struct BatchNormSumInputs {
  struct Branch {
    const void* x = nullptr;       ///< (N,H,W,C)
    const float* gamma = nullptr;  ///< (C)
    const float* beta = nullptr;   ///< (C)
  };
  Branch a, b;
};

struct BatchNormSumOutputs {
  struct Branch {
    float* mean = nullptr;          ///< (C), as those of BatchNormOutputs
    float* inv_std = nullptr;       ///< (C)
    float* var_unbiased = nullptr;  ///< (C)
  };
  void* y = nullptr;             ///< (N,H,W,C)
  std::uint8_t* mask = nullptr;  ///< relu_mask_bytes of y; backward reads it
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
    const void* x = nullptr;  ///< forward's input
    const float* gamma = nullptr;
    const float* mean = nullptr;
    const float* inv_std = nullptr;
    const float* var_unbiased = nullptr;
  };
  const void* dy = nullptr;            ///< (N,H,W,C)
  const void* dy_addend = nullptr;     ///< (N,H,W,C) added to dy first, and the sum rounded to spec.type; null: nothing
  const std::uint8_t* mask = nullptr;  ///< as forward left it
  Branch a, b;
};

struct BatchNormSumGradOutputs {
  struct Branch {
    void* dx = nullptr;             ///< (N,H,W,C), overwritten; may be dy or its addend, never the other's
    float* dgamma = nullptr;        ///< (C) overwritten
    float* dbeta = nullptr;         ///< (C) likewise; the same of both branches
    float* mean = nullptr;          ///< (C) a copy of the micro-batch's, where the "gradient" of the running one stands
    float* var_unbiased = nullptr;  ///< (C) likewise
  };
  Branch a, b;
};

struct BatchNormSumInferenceGrad {
  struct Branch {
    const float* gamma = nullptr;
    const float* running_var = nullptr;
    void* dx = nullptr;  ///< (N,H,W,C), overwritten; may be dy or its addend, never the other's
  };
  const void* dy = nullptr;         ///< (N,H,W,C)
  const void* dy_addend = nullptr;  ///< (N,H,W,C) added to dy first, and the sum rounded to spec.type; null: nothing
  const void* y = nullptr;          ///< infer's output, the ReLU's mask
  Branch a, b;
};

/// y = relu(bn(a) + bn(b)),  bn(x) = gamma * (x - mean) / sqrt(var + epsilon) + beta  with each branch's own four
/// All that BatchNormOp guarantees holds here. In float32 the results are those of two of them, bit for bit; in fewer
/// bits bn(b) is not rounded before it is added.
class BatchNormSumOp {
 public:
  using Spec = BatchNormSumSpec;
  static constexpr const char* kName = "two batch normalisations";

  virtual ~BatchNormSumOp() = default;

  virtual void forward(const BatchNormSumInputs& in, const BatchNormSumOutputs& out) = 0;
  /// forward once more, from the means and inv_stds that it left in `out`: y alone is overwritten, with the same bits.
  virtual void forward_again(const BatchNormSumInputs& in, const BatchNormSumOutputs& out) = 0;
  virtual void infer(const BatchNormSumInference& args) = 0;
  virtual void backward(const BatchNormSumGradInputs& in, const BatchNormSumGradOutputs& out) = 0;
  /// Backward of infer(): dx = g * gamma / sqrt(running_var + epsilon) of each branch, g = dy where the ReLU let
  /// through.
  virtual void infer_backward(const BatchNormSumInferenceGrad& args) = 0;
};

}  // namespace convoy::ops
