/// Batch norm, ReLU and max pooling: one operation of the device, bound to tensors.
#include "model/layers/batch_norm_pooling.h"

#include "convoy/ops/operations.h"

namespace convoy {

BatchNormMaxPool::BatchNormMaxPool(const BatchNormParameters& parameters, const ops::BatchNormMaxPoolSpec& spec,
                                   const TensorLocation& winner)
    : parameters_(parameters), spec_(spec), winner_(winner) {}

void BatchNormMaxPool::create_ops(ops::Backend& backend) {
  op_ = backend.create<ops::BatchNormMaxPoolOp>(spec_);
  elementwise_ = &backend.elementwise();
}

// The winners tell which values the ReLU let through.
Reads BatchNormMaxPool::read_by_backward_input(bool training) const {
  return training ? Reads{&x()} : Reads{};
}

void BatchNormMaxPool::forward(const Frame& frame) const {
  if (frame.training)
    op_->forward(parameters_.inputs(frame, x()), parameters_.outputs(frame, y()), winner(frame));
  else
    op_->infer(parameters_.inference(frame, x(), y()), winner(frame));
}

void BatchNormMaxPool::recompute(const Frame& frame) const {
  if (!frame.training) return forward(frame);
  op_->forward_again(parameters_.inputs(frame, x()), parameters_.outputs(frame, y()), winner(frame));
}

void BatchNormMaxPool::backward_input(const Frame& frame) const {
  if (frame.training)
    op_->backward(parameters_.gradient_inputs(frame, dy(), x()), winner(frame),
                  parameters_.gradient_outputs(frame, dx()));
  else
    op_->infer_backward(parameters_.inference_gradient(frame, dy(), dx()), winner(frame));
}

void BatchNormMaxPool::backward_weight(const Frame& frame) const {
  parameters_.gradients.finish(frame, *elementwise_);
}

}  // namespace convoy
