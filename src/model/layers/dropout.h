/// Dropout.
#pragma once

#include <memory>

#include "convoy/ops/dropout.h"

#include "model/cell_builder.h"

namespace convoy {

/// In training x with a share p of its values set to 0 and the others divided by 1 - p; in evaluation, and in a frozen
/// cell, x itself. The drawn numbers depend on the seed, the step, the micro-batch, the cell's name and the number of
/// layers of the cell that drew before.
/// It needs no extra pass over memory if its output is added to another value, or if it follows a linear layer's ReLU.
Value dropout(const Value& x, double p);

/// Dropout of whole samples: for some samples a block's contribution to its sum is left out (Huang et al. 2016, "Deep
/// networks with stochastic depth"). With p = 0 it is x.
Value stochastic_depth(const Value& x, double p);

/// y = [residual +] dropout(x)
class Dropout final : public Layer {
 public:
  explicit Dropout(const ops::DropoutSpec& spec) : spec_(spec) {}

  const ops::DropoutSpec& spec() const { return spec_; }
  bool has_residual() const { return inputs.size() > 1; }

  std::string operation() const override { return ops::DropoutOp::kName; }
  bool merge(Layer& next) override;
  void create_ops(ops::Backend& backend) override;
  void forward(const Frame& frame) const override;
  void backward_input(const Frame& frame) const override;

 private:
  ops::DropoutSpec spec_;
  std::unique_ptr<ops::DropoutOp> op_;
  ops::ElementwiseOps* elementwise_ = nullptr;
};

}  // namespace convoy
