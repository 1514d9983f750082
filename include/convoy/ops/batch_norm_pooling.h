/// The contract of batch normalisation with the ReLU and the max pooling that follow it in a ResNet's stem. The tensor
/// between them, the largest of the network, is not stored, nor is its gradient.
#pragma once

#include <cstdint>

#include "convoy/ops/batch_norm.h"
#include "convoy/ops/pooling.h"

namespace convoy::ops {

struct BatchNormMaxPoolSpec {
  static constexpr std::int64_t kChannelGroup = 64;

  Shape x;  ///< shape of the input, (N,H,W,C)
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
  float epsilon = 1e-5f;
  DataType type = DataType::kFloat32;  ///< storage type of x, y, dx and dy; (C) tensors are float32

  BatchNormSpec batch_norm() const { return {.x = x, .relu = true, .epsilon = epsilon, .type = type}; }
  PoolingSpec pooling() const { return {.x = x, .kernel = kernel, .stride = stride, .padding = padding, .type = type}; }
  Shape y() const { return pooling().y(); }

  /// Whether BatchNormMaxPoolOp supports this spec: C is a multiple of kChannelGroup, and along each axis at most two
  /// pooling windows cover a pixel. For other specs, the caller runs BatchNormOp and then MaxPoolOp.
  bool is_computed() const { return x.c % kChannelGroup == 0 && kernel <= 2 * stride; }
};

/// Batch normalisation, ReLU and max pooling: y = max_pool(relu(batch_norm(x)))    y (N,P,Q,C)
///
/// `winner` (N,P,Q,C) is the index of the maximum in its window, as in MaxPoolOp, or kNoWinner if the maximum is not
/// positive: the ReLU then lets no gradient through. So backward needs neither y nor the input of the ReLU.
///
/// y, dx, the statistics and the parameters' gradients have the bits of BatchNormOp followed by MaxPoolOp: values are
/// rounded to spec.type before they are compared, and so is the gradient of the pooling's input before it is used. The
/// argument structures are those of BatchNormOp, without a residual; only x and dx are (N,H,W,C).
class BatchNormMaxPoolOp {
 public:
  using Spec = BatchNormMaxPoolSpec;
  static constexpr const char* kName = "batch normalisation and max pooling";
  static constexpr std::uint8_t kNoWinner = 255;

  virtual ~BatchNormMaxPoolOp() = default;

  virtual void forward(const BatchNormInputs& in, const BatchNormOutputs& out, std::uint8_t* winner) = 0;
  /// Computes y and winner again from the mean and inv_std that forward left in `out`. Overwrites these two alone, with
  /// the same bits.
  virtual void forward_again(const BatchNormInputs& in, const BatchNormOutputs& out, std::uint8_t* winner) = 0;
  virtual void infer(const BatchNormInference& args, std::uint8_t* winner) = 0;
  /// The backward pass of forward(). in.dy is (N,P,Q,C); in.dy_addend, in.mask and in.beta are not read. out.dx is
  /// overwritten; it may not be dy.
  virtual void backward(const BatchNormGradInputs& in, const std::uint8_t* winner, const BatchNormGradOutputs& out) = 0;
  /// The backward pass of infer(). args.dy is (N,P,Q,C); args.y is not read.
  virtual void infer_backward(const BatchNormInferenceGrad& args, const std::uint8_t* winner) = 0;
};

}  // namespace convoy::ops
