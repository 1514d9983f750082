/// The contract of batch normalisation with the ReLU and the max pooling that follow it in a ResNet's stem: without the
/// tensor between them, the network's largest, and without its gradient.
#pragma once

#include <cstdint>

#include "convoy/ops/batch_norm.h"
#include "convoy/ops/pooling.h"

namespace convoy::ops {

struct BatchNormMaxPoolSpec {
  static constexpr std::int64_t kChannelGroup = 64;

  Shape x;  ///< (N,H,W,C)
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
  float epsilon = 1e-5f;
  DataType type = DataType::kFloat32;  ///< of x, y, dx, dy; (C) ones are float32

  BatchNormSpec batch_norm() const { return {.x = x, .relu = true, .epsilon = epsilon, .type = type}; }
  PoolingSpec pooling() const { return {.x = x, .kernel = kernel, .stride = stride, .padding = padding, .type = type}; }
  Shape y() const { return pooling().y(); }

  /// What is computed: channels in whole groups, and at most two windows over a pixel along each axis. What else there
  /// is takes the two operations.
  bool is_computed() const { return x.c % kChannelGroup == 0 && kernel <= 2 * stride; }
};

/// y = max_pool(relu(batch_norm(x)))    y (N,P,Q,C)
/// winner (N,P,Q,C): the maximum's index in its window as MaxPoolOp has it, or kNoWinner where the maximum is not
/// positive: there the ReLU lets no gradient through, so that backward needs neither y nor the ReLU's argument.
/// The same bits in y, dx, the statistics and the parameters' gradients as from BatchNormOp and MaxPoolOp in turn:
/// values are compared, and the gradient of the pooling's input is used, as rounded to spec.type. The structures are
/// BatchNormOp's: there is no residual, and x and dx alone are (N,H,W,C).
class BatchNormMaxPoolOp {
 public:
  using Spec = BatchNormMaxPoolSpec;
  static constexpr const char* kName = "batch normalisation and max pooling";
  static constexpr std::uint8_t kNoWinner = 255;

  virtual ~BatchNormMaxPoolOp() = default;

  virtual void forward(const BatchNormInputs& in, const BatchNormOutputs& out, std::uint8_t* winner) = 0;
  /// forward once more, from the mean and inv_std that it left in `out`: y and winner alone are overwritten, with the
  /// same bits.
  virtual void forward_again(const BatchNormInputs& in, const BatchNormOutputs& out, std::uint8_t* winner) = 0;
  virtual void infer(const BatchNormInference& args, std::uint8_t* winner) = 0;
  /// in.dy (N,P,Q,C); its addend, in.mask and in.beta are not read. dx is overwritten, and not dy.
  virtual void backward(const BatchNormGradInputs& in, const std::uint8_t* winner, const BatchNormGradOutputs& out) = 0;
  /// Backward of infer(): args.dy (N,P,Q,C); args.y is not read.
  virtual void infer_backward(const BatchNormInferenceGrad& args, const std::uint8_t* winner) = 0;
};

}  // namespace convoy::ops
