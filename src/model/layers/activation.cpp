/// An activation as a layer of its own is an operation of the device.
#include "model/layers/activation.h"

#include "convoy/ops/operations.h"

namespace convoy {

Value activate(ops::Activation f, const Value& x, const ActivationSettings& settings) {
  const ops::ActivationSpec spec{.count = x.shape().count(),
                                 .activation = f,
                                 .type = x.cell().type(),
                                 .factor = settings.factor,
                                 .constant = settings.constant};
  return x.cell().add(std::make_unique<ActivationLayer>(spec), {{&x.tensor(), GradientRule::kMayReplace}},
                      {.spec = {x.shape(), spec.type}});
}

Value relu(const Value& x) {
  return activate(ops::Activation::kRelu, x);
}

Reads ActivationLayer::read_by_backward_input(bool /*training*/) const {
  if (function() == ops::Activation::kAffine) return {};
  return {derivative_follows_from_output(function()) ? &y() : &x()};
}

void ActivationLayer::create_ops(ops::Backend& backend) {
  op_ = backend.create<ops::ActivationOp>(spec_);
}

void ActivationLayer::forward(const Frame& frame) const {
  op_->forward(frame[x().location], frame[y().location]);
}

void ActivationLayer::backward_input(const Frame& frame) const {
  const Reads reads = read_by_backward_input(true);
  op_->backward(reads.empty() ? nullptr : frame[reads.front()->location], frame[dy()], frame[dx()]);
}

}  // namespace convoy
