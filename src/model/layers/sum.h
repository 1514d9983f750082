/// Sums of two values.
#pragma once

#include "model/cell_builder.h"

namespace convoy {

/// y = a + b of the same shape, rounded to the network's type. After a batch norm of a or b it needs no extra pass over
/// memory.
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
