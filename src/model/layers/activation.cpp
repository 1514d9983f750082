/// An activation as a layer of its own is an operation of the device.
#include "model/layers/activation.h"

#include "convoy/ops/operations.h"

namespace convoy {

Value activate(ops::Activation f, const Value& x) {
  const DataType type = x.cell().type();
  return x.cell().add(std::make_unique<ActivationLayer>(f, type), {{&x.tensor(), GradientRule::kMayReplace}},
                      {.spec = {x.shape(), type}});
}

Value relu(const Value& x) {
  return activate(ops::Activation::kRelu, x);
}

Reads ActivationLayer::read_by_backward_input(bool /*training*/) const {
  return {derivative_follows_from_output(f_) ? &y() : &x()};
}

void ActivationLayer::create_ops(ops::Backend& backend) {
  op_ = backend.create<ops::ActivationOp>({.count = y().spec.shape.count(), .activation = f_, .type = type_});
}

void ActivationLayer::forward(const Frame& frame) const {
  op_->forward(frame[x().location], frame[y().location]);
}

void ActivationLayer::backward_input(const Frame& frame) const {
  op_->backward(frame[read_by_backward_input(true).front()->location], frame[dy()], frame[dx()]);
}

}  // namespace convoy
