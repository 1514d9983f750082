/// Batch norms with the sum and the ReLU that they take over.
#include "model/layers/batch_norm.h"

#include "model/layers/activation.h"
#include "model/layers/sum.h"

namespace convoy {

Value batch_norm(const std::string& name, const Value& x) {
  CellBuilder& cell = x.cell();
  return cell.add(std::make_unique<BatchNorm>(cell.memory(), cell.parameter_name(name), x.shape().c),
                  {{&x.tensor(), GradientRule::kMayReplace}}, {.spec = {x.shape(), cell.type()}});
}

BatchNorm::BatchNorm(CellMemory& memory, const std::string& name, std::int64_t num_channels)
    : gamma_number_(memory.parameters().size()) {
  const auto parameter = [&](const char* suffix, double initial, UpdateRule rule) {
    return memory.parameter({.name = name + suffix,
                             .dims = {num_channels},
                             .initial = {InitialValues::Kind::kConstant, initial},
                             .rule = rule,
                             .role = ParameterRole::kNormOrBias});
  };
  gamma_ = parameter(".weight", 1, UpdateRule::kOptimizer);
  beta_ = parameter(".bias", 0, UpdateRule::kOptimizer);
  running_mean_ = parameter(".running_mean", 0, UpdateRule::kMovingAverage);
  running_var_ = parameter(".running_var", 1, UpdateRule::kMovingAverage);
  for (TensorLocation* location : {&mean_, &inv_std_, &var_unbiased_})
    *location = memory.statistic(num_channels * kFloatBytes);
  gradients_ = EarlyGradients(memory, gamma_, running_var_, num_channels);
}

bool BatchNorm::merge(Layer& next) {
  if (has_relu_) return false;
  const auto* activation = dynamic_cast<const ActivationLayer*>(&next);
  if (activation != nullptr && activation->function() == ops::Activation::kRelu) {
    has_relu_ = true;
    return true;
  }
  if (has_residual_ || dynamic_cast<Sum*>(&next) == nullptr) return false;
  has_residual_ = true;
  inputs.front().rule = GradientRule::kWrites;
  for (const LayerInput& in : next.inputs)
    if (in.tensor != &y()) inputs.push_back({in.tensor, GradientRule::kReplaces});
  return true;
}

void BatchNorm::connect(CellGraph& graph) {
  spec_ = {.x = x().spec.shape, .relu = has_relu_, .residual = has_residual_, .type = graph.memory.type()};
  graph.memory.parameters()[gamma_number_].spec.joins_shortcut = has_residual_;
}

void BatchNorm::create_ops(ops::Backend& backend) {
  op_ = backend.create<ops::BatchNormOp>(spec_);
  elementwise_ = &backend.elementwise();
}

// In training the mask of a ReLU alone follows from x.
Reads BatchNorm::read_by_backward_input(bool training) const {
  Reads reads;
  if (training) reads.push_back(&x());
  if (has_relu_ && (has_residual_ || !training)) reads.push_back(&y());
  return reads;
}

const void* BatchNorm::residual(const Frame& frame) const {
  return has_residual_ ? frame[inputs[1].tensor->location] : nullptr;
}

void BatchNorm::forward(const Frame& frame) const {
  if (!frame.training) {
    op_->infer({.x = frame[x().location],
                .residual = residual(frame),
                .gamma = frame[gamma_],
                .beta = frame[beta_],
                .running_mean = frame[running_mean_],
                .running_var = frame[running_var_],
                .y = frame[y().location]});
    return;
  }
  op_->forward({.x = frame[x().location], .residual = residual(frame), .gamma = frame[gamma_], .beta = frame[beta_]},
               {.y = frame[y().location],
                .mean = floats(frame, mean_),
                .inv_std = floats(frame, inv_std_),
                .var_unbiased = floats(frame, var_unbiased_)});
}

void BatchNorm::recompute(const Frame& frame) const {
  if (!frame.training) return forward(frame);
  op_->forward_again(
      {.x = frame[x().location], .residual = residual(frame), .gamma = frame[gamma_], .beta = frame[beta_]},
      {.y = frame[y().location], .mean = floats(frame, mean_), .inv_std = floats(frame, inv_std_)});
}

void BatchNorm::backward_input(const Frame& frame) const {
  void* dresidual = has_residual_ && inputs[1].dx != nullptr ? frame[*inputs[1].dx] : nullptr;
  if (!frame.training) {
    op_->infer_backward({.dy = frame[dy()],
                         .y = frame[y().location],
                         .gamma = frame[gamma_],
                         .running_var = frame[running_var_],
                         .dx = frame[dx()],
                         .dresidual = dresidual});
    return;
  }
  op_->backward({.dy = frame[dy()],
                 .x = frame[x().location],
                 .y = frame[y().location],
                 .gamma = frame[gamma_],
                 .beta = frame[beta_],
                 .mean = floats(frame, mean_),
                 .inv_std = floats(frame, inv_std_),
                 .var_unbiased = floats(frame, var_unbiased_)},
                {.dx = frame[dx()],
                 .dresidual = dresidual,
                 .dgamma = gradients_.at(frame, gamma_),
                 .dbeta = gradients_.at(frame, beta_),
                 .mean = gradients_.at(frame, running_mean_),
                 .var_unbiased = gradients_.at(frame, running_var_)});
}

void BatchNorm::backward_weight(const Frame& frame) const {
  gradients_.finish(frame, *elementwise_);
}

}  // namespace convoy
