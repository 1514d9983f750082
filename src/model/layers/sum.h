/// Sums of two values.
#pragma once

#include "model/cell_builder.h"

namespace convoy {

/// y = a + b, of one shape; rounded to the network's type. After a batch norm of a's or b's own it costs no pass.
Value operator+(const Value& a, const Value& b);

class Sum final : public Layer {
 public:
  std::string operation() const override { return "sum"; }
  void create_ops(ops::Backend& backend) override { elementwise_ = &backend.elementwise(); }
  void forward(const Frame& frame) const override;
  void backward_input(const Frame&) const override {}  // both gradients are dy

 private:
  ops::ElementwiseOps* elementwise_ = nullptr;
};

}  // namespace convoy
