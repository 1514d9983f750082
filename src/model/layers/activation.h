/// Activation functions, computed by a layer of their own or by the layer before them.
#pragma once

#include <memory>

#include "convoy/ops/activation.h"

#include "model/cell_builder.h"

namespace convoy {

/// Adds y = max(0, x). It needs no extra pass over memory if no other layer reads x, and x is the output of a linear
/// layer, of a batch norm, or of a sum with a batch norm's output.
Value relu(const Value& x);

/// The numbers of an activation: see ops::ActivationSpec.
struct ActivationSettings {
  float factor = 1, constant = 0;
};

/// Adds y = f(x). It needs no extra pass over memory in forward if f has no numbers, and x is the output of a linear
/// layer that no other layer reads.
Value activate(ops::Activation f, const Value& x, const ActivationSettings& settings = {});

class ActivationLayer final : public Layer {
 public:
  explicit ActivationLayer(const ops::ActivationSpec& spec) : spec_(spec) {}

  ops::Activation function() const { return spec_.activation; }
  /// Whether the function is known without the numbers of its spec.
  bool has_no_numbers() const {
    return function() != ops::Activation::kLeakyRelu && function() != ops::Activation::kAffine;
  }
  std::string operation() const override { return ops::ActivationOp::kName; }
  Reads read_by_backward_input(bool training) const override;

  void create_ops(ops::Backend& backend) override;
  void forward(const Frame& frame) const override;
  void backward_input(const Frame& frame) const override;

 private:
  ops::ActivationSpec spec_;
  std::unique_ptr<ops::ActivationOp> op_;
};

/// Whether the derivative of f can be computed from y = f(x), so that x need not be stored.
inline bool derivative_follows_from_output(ops::Activation f) {
  return f == ops::Activation::kRelu || f == ops::Activation::kLeakyRelu;
}

}  // namespace convoy
