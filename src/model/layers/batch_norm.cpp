/// Batch norms, and what they leave to the convolutions around them.
#include "model/layers/batch_norm.h"

#include "model/layers/convolution.h"
#include "model/layers/sum_and_relu.h"

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
                             .is_norm_or_bias = true});
  };
  gamma_ = parameter(".weight", 1, UpdateRule::kOptimizer);
  beta_ = parameter(".bias", 0, UpdateRule::kOptimizer);
  running_mean_ = parameter(".running_mean", 0, UpdateRule::kMovingAverage);
  running_var_ = parameter(".running_var", 1, UpdateRule::kMovingAverage);
  for (Place* place : {&mean_, &inv_std_, &var_unbiased_}) *place = memory.statistic(num_channels * kFloatBytes);
  num_gradients_ = running_var_.offset + num_channels - gamma_.offset;
  gradients_ = memory.weight_gradient_input(num_gradients_ * kFloatBytes);
}

bool BatchNorm::merge(Layer& next) {
  if (has_relu_) return false;
  if (dynamic_cast<Relu*>(&next) != nullptr) {
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
  convolution_before_ = dynamic_cast<const Convolution*>(x().producer);
  if (convolution_before_ != nullptr) inputs.push_back({&convolution_before_->sums_tensor(), GradientRule::kNone});
}

void BatchNorm::create_ops(ops::Library& library) {
  op_ = library.batch_norm(spec_);
  elementwise_ = &library.elementwise();
}

// In training the mask of a ReLU alone follows from x.
Reads BatchNorm::read_by_backward_input(bool training) const {
  Reads reads;
  if (training) reads.push_back(&x());
  if (has_relu_ && (has_residual_ || !training)) reads.push_back(&y());
  return reads;
}

const void* BatchNorm::residual(const Frame& frame) const {
  return has_residual_ ? frame[inputs[1].tensor->place] : nullptr;
}

void BatchNorm::forward(const Frame& frame) const {
  if (!frame.training) {
    op_->infer({.x = frame[x().place],
                .residual = residual(frame),
                .gamma = frame[gamma_],
                .beta = frame[beta_],
                .running_mean = frame[running_mean_],
                .running_var = frame[running_var_],
                .y = frame[y().place]});
    return;
  }
  const bool has_sums = convolution_before_ != nullptr && convolution_before_->gives_sums(frame.training);
  const ops::ChannelSums sums = has_sums ? convolution_before_->sums(frame) : ops::ChannelSums{};
  op_->forward({.x = frame[x().place],
                .residual = residual(frame),
                .gamma = frame[gamma_],
                .beta = frame[beta_],
                .sum = sums.sum,
                .square_sum = sums.square_sum},
               {.y = y().is_read_in_training ? frame[y().place] : nullptr,
                .mean = floats(frame, mean_),
                .inv_std = floats(frame, inv_std_),
                .var_unbiased = floats(frame, var_unbiased_)});
}

void BatchNorm::recompute(const Frame& frame) const {
  if (!frame.training) return forward(frame);
  op_->forward_again({.x = frame[x().place], .residual = residual(frame), .gamma = frame[gamma_], .beta = frame[beta_]},
                     {.y = frame[y().place], .mean = floats(frame, mean_), .inv_std = floats(frame, inv_std_)});
}

void BatchNorm::backward_input(const Frame& frame) const {
  void* dresidual = has_residual_ && inputs[1].dx != nullptr ? frame[*inputs[1].dx] : nullptr;
  if (!frame.training) {
    op_->infer_backward({.dy = frame[dy()],
                         .y = frame[y().place],
                         .gamma = frame[gamma_],
                         .running_var = frame[running_var_],
                         .dx = frame[dx()],
                         .dresidual = dresidual});
    return;
  }
  const bool summed = convolution_after_ != nullptr && convolution_after_->sums_gradients(frame.training);
  op_->backward({.dy = frame[dy()],
                 .x = frame[x().place],
                 .y = frame[y().place],
                 .gamma = frame[gamma_],
                 .beta = frame[beta_],
                 .mean = floats(frame, mean_),
                 .inv_std = floats(frame, inv_std_),
                 .var_unbiased = floats(frame, var_unbiased_),
                 .summed = summed},
                {.dx = frame[dx()],
                 .dresidual = dresidual,
                 .dgamma = gradient(frame, gamma_),
                 .dbeta = gradient(frame, beta_),
                 .mean = gradient(frame, running_mean_),
                 .var_unbiased = gradient(frame, running_var_)});
}

// A joint backward_input has written them.
void BatchNorm::backward_weight(const Frame& frame) const {
  if (frame.splits_backward())
    elementwise_->copy(frame[gradients_], frame.gradient(gamma_), num_gradients_ * kFloatBytes);
}

// In the arena, or stored in the same order.
float* BatchNorm::gradient(const Frame& frame, ParameterRef p) const {
  return frame.splits_backward() ? floats(frame, gradients_) + (p.offset - gamma_.offset) : frame.gradient(p);
}

ops::NormalisedInput BatchNorm::as_input(const Frame& frame) const {
  return {.a = frame[x().place],
          .gamma = frame[gamma_],
          .beta = frame[beta_],
          .mean = floats(frame, mean_),
          .inv_std = floats(frame, inv_std_)};
}

ops::NormalisedInputGradients BatchNorm::sums_of_gradients(const Frame& frame, void* g) const {
  return {.g = g, .dgamma = gradient(frame, gamma_), .dbeta = gradient(frame, beta_)};
}

}  // namespace convoy
