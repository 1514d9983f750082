/// Batch norm, ReLU and max pooling: one operation of the device, bound to tensors.
#include "model/layers/batch_norm_pooling.h"

namespace convoy {

BatchNormMaxPool::BatchNormMaxPool(const BatchNormParameters& parameters, const ops::BatchNormMaxPoolSpec& spec,
                                   const TensorLocation& winner)
    : parameters_(parameters), spec_(spec), winner_(winner) {}

void BatchNormMaxPool::create_ops(ops::Backend& backend) {
  op_ = backend.create<ops::BatchNormMaxPoolOp>(spec_);
  elementwise_ = &backend.elementwise();
}

// The winners say where the ReLU let through.
Reads BatchNormMaxPool::read_by_backward_input(bool training) const {
  return training ? Reads{&x()} : Reads{};
}

void BatchNormMaxPool::forward(const Frame& frame) const {
  if (!frame.training) {
    op_->infer({.x = frame[x().location],
                .gamma = frame[parameters_.gamma],
                .beta = frame[parameters_.beta],
                .running_mean = frame[parameters_.running_mean],
                .running_var = frame[parameters_.running_var],
                .y = frame[y().location]},
               winner(frame));
    return;
  }
  op_->forward({.x = frame[x().location], .gamma = frame[parameters_.gamma], .beta = frame[parameters_.beta]},
               {.y = frame[y().location],
                .mean = parameters_.mean_of(frame),
                .inv_std = parameters_.inv_std_of(frame),
                .var_unbiased = parameters_.var_unbiased_of(frame)},
               winner(frame));
}

void BatchNormMaxPool::recompute(const Frame& frame) const {
  if (!frame.training) return forward(frame);
  op_->forward_again(
      {.x = frame[x().location], .gamma = frame[parameters_.gamma], .beta = frame[parameters_.beta]},
      {.y = frame[y().location], .mean = parameters_.mean_of(frame), .inv_std = parameters_.inv_std_of(frame)},
      winner(frame));
}

void BatchNormMaxPool::backward_input(const Frame& frame) const {
  if (!frame.training) {
    op_->infer_backward({.dy = frame[dy()],
                         .gamma = frame[parameters_.gamma],
                         .running_var = frame[parameters_.running_var],
                         .dx = frame[dx()]},
                        winner(frame));
    return;
  }
  op_->backward({.dy = frame[dy()],
                 .x = frame[x().location],
                 .gamma = frame[parameters_.gamma],
                 .mean = parameters_.mean_of(frame),
                 .inv_std = parameters_.inv_std_of(frame),
                 .var_unbiased = parameters_.var_unbiased_of(frame)},
                winner(frame),
                {.dx = frame[dx()],
                 .dgamma = parameters_.gradients.at(frame, parameters_.gamma),
                 .dbeta = parameters_.gradients.at(frame, parameters_.beta),
                 .mean = parameters_.gradients.at(frame, parameters_.running_mean),
                 .var_unbiased = parameters_.gradients.at(frame, parameters_.running_var)});
}

void BatchNormMaxPool::backward_weight(const Frame& frame) const {
  parameters_.gradients.finish(frame, *elementwise_);
}

}  // namespace convoy
