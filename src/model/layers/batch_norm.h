/// Batch normalisation. One operation computes it together with the sum and the ReLU that follow it, with a second
/// batch norm in the sum, or with the ReLU and the max pooling that follow it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/cell_builder.h"
#include "model/layers/batch_norm_parameters.h"

namespace convoy {

class MaxPool;

struct BatchNormSettings {
  float epsilon = 1e-5f;  ///< added to the variances
  double momentum = 0.1;  ///< ParameterSpec::momentum of the running statistics, as in torch.nn.BatchNorm2d
};

/// Adds y = gamma * (x - mean) / sqrt(var + epsilon) + beta    x, y (N,H,W,C)
/// NAME.weight is gamma, NAME.bias is beta, NAME.running_mean and NAME.running_var are the running statistics, each
/// (C).
Value batch_norm(const std::string& name, const Value& x, const BatchNormSettings& settings = {});

/// y = relu(bn(x) [+ residual])  or  y = relu(bn(a) + bn(b)), with a batch norm of its own for each branch
/// or  y = max_pool(relu(bn(x))), in which the normalised values and their gradient are never written to memory
/// Backward writes the micro-batch's mean and unbiased variance as the "gradients" of the running statistics. They are
/// summed over the step's micro-batches like gradients, and the running statistics are updated with their mean, once
/// per step. A frozen cell uses the running statistics instead of the micro-batch's, in backward too.
class BatchNorm final : public Layer {
 public:
  BatchNorm(CellMemory& memory, const std::string& name, const Shape& x, const BatchNormSettings& settings);
  /// Does the work of both: `sum`, which has a ReLU, adds the output of `shortcut`. Both have the same epsilon.
  BatchNorm(const BatchNorm& sum, const BatchNorm& shortcut);
  /// Does the work of both: `norm` has a ReLU, whose output `pool` reads.
  BatchNorm(const BatchNorm& norm, const MaxPool& pool);

  std::string operation() const override { return spec_.name(); }
  bool merge(Layer& next) override;
  /// Returns a BatchNorm that does the work of both if `next` is a max pooling that can_pool() allows, and this one has
  /// a ReLU, adds nothing and has no pooling; or if `next` is a batch norm of the same epsilon with a ReLU that adds
  /// this one's output, and this one has no ReLU and adds nothing. Else returns null.
  std::unique_ptr<Layer> fused_with(Layer& next) override;
  void connect(CellGraph& graph) override;
  bool has_weights() const override { return true; }
  bool takes_dy_in_parts() const override { return spec_.residual || spec_.num_branches > 1; }
  Reads read_by_backward_input(bool training) const override;

  void create_ops(ops::Backend& backend) override;
  void forward(const Frame& frame) const override;
  void recompute(const Frame& frame) const override;
  void backward_input(const Frame& frame) const override;
  void backward_weight(const Frame& frame) const override;

 private:
  std::uint8_t* mask(const Frame& frame) const;
  std::uint8_t* winner(const Frame& frame) const;
  ops::BatchNormForward forward_args(const Frame& frame) const;
  ops::BatchNormBackward backward_args(const Frame& frame) const;

  std::vector<BatchNormParameters> branches_;  ///< those of inputs[0] and, if there are two branches, of inputs[1]
  TensorLocation mask_;                        ///< which values the ReLU let through; set only if spec_.stores_mask()
  TensorLocation winner_;                      ///< winners of the max pooling; set only if spec_.pooling
  ops::BatchNormSpec spec_;
  std::unique_ptr<ops::BatchNormOp> op_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

}  // namespace convoy
