/// Sums of two values.
#pragma once

#include "model/cell_builder.h"

namespace convoy {

/// Adds the layer y = a + b, rounded to the network's type. It needs no extra pass over memory if a or b is the output
/// of a batch norm without a ReLU, and no other layer reads it. Throws std::logic_error if the shapes differ.
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
