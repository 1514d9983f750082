/// Dropout of single values and of whole samples.
#pragma once

#include <memory>

#include "convoy/ops/dropout.h"

#include "model/cell_builder.h"

namespace convoy {

/// Adds dropout: in training each value of x becomes 0 with probability p, and the others are divided by 1 - p. In
/// evaluation and in a frozen cell, y = x. The random numbers depend on the seed, the step, the micro-batch, the cell's
/// name and the number of dropout layers before this one in the cell.
/// It needs no extra pass over memory if its output is added to another value, or if it follows a linear layer's ReLU.
Value dropout(const Value& x, double p);

/// Adds dropout of whole samples: in training all values of a sample become 0 with probability p, so a residual block
/// is left out for that sample (Huang et al. 2016, "Deep networks with stochastic depth"). Returns x if p is 0.
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
