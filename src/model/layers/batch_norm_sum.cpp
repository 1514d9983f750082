/// Passes the tensors of both batch norms to the operation for both.
#include "model/layers/batch_norm_sum.h"

#include "convoy/ops/operations.h"

namespace convoy {

namespace {

ops::BatchNormSumInputs::Branch inputs_of(const Frame& frame, const Tensor& x, const BatchNormParameters& of) {
  return {.x = frame[x.location], .gamma = frame[of.gamma], .beta = frame[of.beta]};
}

ops::BatchNormSumOutputs::Branch statistics_of(const Frame& frame, const BatchNormParameters& of) {
  return {.mean = of.mean_of(frame), .inv_std = of.inv_std_of(frame), .var_unbiased = of.var_unbiased_of(frame)};
}

ops::BatchNormSumInference::Branch inference_of(const Frame& frame, const Tensor& x, const BatchNormParameters& of) {
  return {.x = frame[x.location],
          .gamma = frame[of.gamma],
          .beta = frame[of.beta],
          .running_mean = frame[of.running_mean],
          .running_var = frame[of.running_var]};
}

ops::BatchNormSumGradInputs::Branch gradient_inputs_of(const Frame& frame, const Tensor& x,
                                                       const BatchNormParameters& of) {
  return {.x = frame[x.location],
          .gamma = frame[of.gamma],
          .mean = of.mean_of(frame),
          .inv_std = of.inv_std_of(frame),
          .var_unbiased = of.var_unbiased_of(frame)};
}

ops::BatchNormSumGradOutputs::Branch gradients_of(const Frame& frame, const LayerInput& in,
                                                  const BatchNormParameters& of) {
  return {.dx = frame[*in.dx],
          .dgamma = of.gradients.at(frame, of.gamma),
          .dbeta = of.gradients.at(frame, of.beta),
          .mean = of.gradients.at(frame, of.running_mean),
          .var_unbiased = of.gradients.at(frame, of.running_var)};
}

ops::BatchNormSumInferenceGrad::Branch inference_gradient_of(const Frame& frame, const LayerInput& in,
                                                             const BatchNormParameters& of) {
  return {.gamma = frame[of.gamma], .running_var = frame[of.running_var], .dx = frame[*in.dx]};
}

}  // namespace

BatchNormSum::BatchNormSum(const Branch& a, const Branch& b) : of_a_(a.parameters), of_b_(b.parameters) {
  inputs = {{&a.x, GradientRule::kWrites}, {&b.x, GradientRule::kReplaces}};
}

void BatchNormSum::connect(CellGraph& graph) {
  spec_ = {.x = a().spec.shape, .type = graph.memory.type()};
  graph.memory.parameters()[of_a_.gamma_number].spec.joins_shortcut = true;
  mask_ = graph.memory.statistic(ops::relu_mask_bytes(spec_.x, spec_.type));
}

void BatchNormSum::create_ops(ops::Backend& backend) {
  op_ = backend.create<ops::BatchNormSumOp>(spec_);
  elementwise_ = &backend.elementwise();
}

Reads BatchNormSum::read_by_backward_input(bool training) const {
  return training ? Reads{&a(), &b()} : Reads{&y()};
}

void BatchNormSum::forward(const Frame& frame) const {
  if (!frame.training) {
    op_->infer({.a = inference_of(frame, a(), of_a_), .b = inference_of(frame, b(), of_b_), .y = frame[y().location]});
    return;
  }
  op_->forward({.a = inputs_of(frame, a(), of_a_), .b = inputs_of(frame, b(), of_b_)},
               {.y = frame[y().location],
                .mask = mask(frame),
                .a = statistics_of(frame, of_a_),
                .b = statistics_of(frame, of_b_)});
}

void BatchNormSum::recompute(const Frame& frame) const {
  if (!frame.training) return forward(frame);
  op_->forward_again({.a = inputs_of(frame, a(), of_a_), .b = inputs_of(frame, b(), of_b_)},
                     {.y = frame[y().location], .a = statistics_of(frame, of_a_), .b = statistics_of(frame, of_b_)});
}

void BatchNormSum::backward_input(const Frame& frame) const {
  if (!frame.training) {
    op_->infer_backward({.dy = frame[dy()],
                         .dy_addend = dy_addend(frame),
                         .y = frame[y().location],
                         .a = inference_gradient_of(frame, inputs[0], of_a_),
                         .b = inference_gradient_of(frame, inputs[1], of_b_)});
    return;
  }
  op_->backward({.dy = frame[dy()],
                 .dy_addend = dy_addend(frame),
                 .mask = mask(frame),
                 .a = gradient_inputs_of(frame, a(), of_a_),
                 .b = gradient_inputs_of(frame, b(), of_b_)},
                {.a = gradients_of(frame, inputs[0], of_a_), .b = gradients_of(frame, inputs[1], of_b_)});
}

void BatchNormSum::backward_weight(const Frame& frame) const {
  of_a_.gradients.finish(frame, *elementwise_);
  of_b_.gradients.finish(frame, *elementwise_);
}

}  // namespace convoy
