/// A batch norm with its ReLU and the max pooling that follows them, in one layer.
#pragma once

#include <memory>
#include <string>

#include "convoy/ops/batch_norm_pooling.h"

#include "model/layers/batch_norm_parameters.h"
#include "model/layers/pooling.h"

namespace convoy {

/// y = max_pool(relu(bn(x)))    x (N,H,W,C)   y (N,P,Q,C)
/// It computes what a BatchNorm with ReLU and a MaxPool compute, but the normalised values and their gradient are never
/// written to memory.
class BatchNormMaxPool final : public Layer {
 public:
  BatchNormMaxPool(const BatchNormParameters& parameters, const ops::BatchNormMaxPoolSpec& spec,
                   const TensorLocation& winner);

  std::string operation() const override { return ops::BatchNormMaxPoolOp::kName; }
  bool has_weights() const override { return true; }
  Reads read_by_backward_input(bool training) const override;

  void create_ops(ops::Backend& backend) override;
  void forward(const Frame& frame) const override;
  void recompute(const Frame& frame) const override;
  void backward_input(const Frame& frame) const override;
  void backward_weight(const Frame& frame) const override;

 private:
  std::uint8_t* winner(const Frame& frame) const { return bytes_at(frame, winner_); }

  BatchNormParameters parameters_;
  ops::BatchNormMaxPoolSpec spec_;
  TensorLocation winner_;
  std::unique_ptr<ops::BatchNormMaxPoolOp> op_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

}  // namespace convoy
