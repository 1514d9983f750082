/// Batch normalisation. One operation computes it together with the sum and the ReLU that follow it, or with the ReLU
/// and the max pooling that follow it.
#pragma once

#include <memory>
#include <string>

#include "model/cell_builder.h"
#include "model/layers/batch_norm_parameters.h"

namespace convoy {

class MaxPool;

/// Adds y = gamma * (x - mean) / sqrt(var + epsilon) + beta    x, y (N,H,W,C)
/// NAME.weight is gamma, NAME.bias is beta, NAME.running_mean and NAME.running_var are the running statistics, each
/// (C).
Value batch_norm(const std::string& name, const Value& x);

/// y = relu(bn(x) [+ residual])
/// Backward writes the micro-batch's mean and unbiased variance as the "gradients" of the running statistics. They are
/// summed over the step's micro-batches like gradients, and the running statistics are updated with their mean, once
/// per step. A frozen cell uses the running statistics instead of the micro-batch's, in backward too.
class BatchNorm final : public Layer {
 public:
  BatchNorm(CellMemory& memory, const std::string& name, std::int64_t num_channels);

  std::string operation() const override { return ops::BatchNormOp::kName; }
  bool merge(Layer& next) override;
  /// Returns a BatchNormMaxPool if `next` is a max pooling of this batch norm's ReLU, or a BatchNormSum if `next` is a
  /// batch norm that adds this one's output and has a ReLU; else null.
  std::unique_ptr<Layer> fused_with(Layer& next) override;
  void connect(CellGraph& graph) override;
  bool has_weights() const override { return true; }
  bool takes_dy_in_parts() const override { return has_residual_; }
  Reads read_by_backward_input(bool training) const override;

  void create_ops(ops::Backend& backend) override;
  void forward(const Frame& frame) const override;
  void recompute(const Frame& frame) const override;
  void backward_input(const Frame& frame) const override;
  void backward_weight(const Frame& frame) const override;

 private:
  std::unique_ptr<Layer> fused_with_pooling(const MaxPool& pool);
  const void* residual(const Frame& frame) const;
  std::uint8_t* mask(const Frame& frame) const;
  ops::BatchNormInputs op_inputs(const Frame& frame) const;

  bool has_relu_ = false, has_residual_ = false;
  BatchNormParameters parameters_;
  TensorLocation mask_;  ///< which values the ReLU let through; set only if a residual is added before the ReLU
  ops::BatchNormSpec spec_;
  std::unique_ptr<ops::BatchNormOp> op_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

}  // namespace convoy
