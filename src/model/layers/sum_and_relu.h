/// What stands between other layers: sums of two values and the ReLU.
#pragma once

#include "model/cell_builder.h"

namespace convoy {

/// y = a + b, of one shape; rounded to the network's type. After a batch norm of a's or b's own it costs no pass.
Value operator+(const Value& a, const Value& b);

/// y = max(0, x). Follows a batch norm, alone or with a sum between: Throws std::logic_error elsewhere.
Value relu(const Value& x);

class Sum final : public Layer {
 public:
  void create_ops(ops::Library& library) override { elementwise_ = &library.elementwise(); }
  void forward(const Frame& frame) const override;
  void backward_input(const Frame&) const override {}  // both gradients are dy

 private:
  ops::ElementwiseOps* elementwise_ = nullptr;
};

/// Merged with the batch norm before it.
class Relu final : public Layer {
 public:
  void connect(CellGraph& graph) override;
  void create_ops(ops::Library&) override {}
  void forward(const Frame&) const override {}
  void backward_input(const Frame&) const override {}
};

}  // namespace convoy
