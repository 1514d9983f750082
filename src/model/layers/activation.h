/// Activations: alone, or as a part of the layer before them.
#pragma once

#include <memory>

#include "convoy/ops/activation.h"

#include "model/cell_builder.h"

namespace convoy {

/// y = max(0, x). After a batch norm, with or without a sum between, or after a linear layer, it needs no extra pass
/// over memory.
Value relu(const Value& x);

/// y = f(x). After a linear layer it needs no extra pass over memory in forward.
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

/// Whether an activation's derivative follows from its output, which other layers read anyway: true for a ReLU.
inline bool derivative_follows_from_output(ops::Activation f) {
  return f == ops::Activation::kRelu;
}

}  // namespace convoy
