/// Activations: alone, or as a part of the layer before them.
#pragma once

#include <memory>

#include "model/cell_builder.h"

namespace convoy {

/// max(0, x). After a batch norm, with or without a sum between, or a linear layer, it costs no pass.
Value relu(const Value& x);

/// f(x). After a linear layer it costs no pass in forward.
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

/// What an activation's derivative follows from: a ReLU's from its output too, which others read anyway.
inline bool derivative_follows_from_output(ops::Activation f) {
  return f == ops::Activation::kRelu;
}

}  // namespace convoy
