/// Activation functions, computed by a layer of their own or by the layer before them.
#pragma once

#include <memory>

#include "convoy/ops/activation.h"

#include "model/cell_builder.h"

namespace convoy {

/// Adds y = max(0, x). It needs no extra pass over memory if x is the output of a linear layer, of a batch norm, or of
/// a sum with a batch norm's output.
Value relu(const Value& x);

/// Adds y = f(x). It needs no extra pass over memory in forward if x is the output of a linear layer.
Value activate(ops::Activation f, const Value& x);

class ActivationLayer final : public Layer {
 public:
  ActivationLayer(ops::Activation f, DataType type) : f_(f), type_(type) {}

  ops::Activation function() const { return f_; }
  std::string operation() const override { return ops::ActivationOp::kName; }
  Reads read_by_backward_input(bool training) const override;

  void create_ops(ops::Backend& backend) override;
  void forward(const Frame& frame) const override;
  void backward_input(const Frame& frame) const override;

 private:
  ops::Activation f_;
  DataType type_;
  std::unique_ptr<ops::ActivationOp> op_;
};

/// Whether the derivative of f can be computed from y = f(x), so that x need not be stored: true for a ReLU only.
inline bool derivative_follows_from_output(ops::Activation f) {
  return f == ops::Activation::kRelu;
}

}  // namespace convoy
