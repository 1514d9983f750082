/// Two batch norms with their sum and its ReLU: the end of a residual block whose shortcut is normalised, too.
#pragma once

#include <memory>
#include <string>

#include "convoy/ops/batch_norm_sum.h"

#include "model/cell_builder.h"
#include "model/layers/batch_norm_parameters.h"

namespace convoy {

/// y = relu(bn_a(a) + bn_b(b)). It computes what two BatchNorms compute, in training and in a frozen cell.
/// BatchNorm::fused_with() creates it.
class BatchNormSum final : public Layer {
 public:
  struct Branch {
    Tensor& x;
    BatchNormParameters parameters;
  };
  /// `a` is the branch of the block's convolutions, and `b` that of its shortcut.
  BatchNormSum(const Branch& a, const Branch& b);

  std::string operation() const override { return ops::BatchNormSumOp::kName; }
  void connect(CellGraph& graph) override;
  bool has_weights() const override { return true; }
  bool takes_dy_in_parts() const override { return true; }
  Reads read_by_backward_input(bool training) const override;

  void create_ops(ops::Backend& backend) override;
  void forward(const Frame& frame) const override;
  void recompute(const Frame& frame) const override;
  void backward_input(const Frame& frame) const override;
  void backward_weight(const Frame& frame) const override;

 private:
  const Tensor& a() const { return *inputs[0].tensor; }
  const Tensor& b() const { return *inputs[1].tensor; }

  std::uint8_t* mask(const Frame& frame) const { return reinterpret_cast<std::uint8_t*>(frame[mask_]); }

  BatchNormParameters of_a_, of_b_;
  TensorLocation mask_;  ///< which values the ReLU let through
  ops::BatchNormSumSpec spec_;
  std::unique_ptr<ops::BatchNormSumOp> op_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

}  // namespace convoy
