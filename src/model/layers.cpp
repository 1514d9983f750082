/// Layers: parameter names as torchvision's, arithmetic from the device's library.
#include "model/layers.h"

#include <cassert>

namespace convoy {

namespace {

// Layers store what the cell stores.
template <typename Spec>
Spec typed(Spec spec, const CellMemory& memory) {
  spec.type = memory.type();
  return spec;
}

}  // namespace

Convolution::Convolution(CellMemory& memory, const std::string& name, const ops::ConvolutionSpec& spec)
    : spec_(typed(spec, memory)),
      weight_(memory.parameter({.name = name + ".weight",
                                .kind = ParameterKind::kConvolutionWeight,
                                .dims = {spec.num_filters, spec.x.c, spec.kernel, spec.kernel},
                                .fan_in = spec.x.c * spec.kernel * spec.kernel})) {
  memory.add_flop(spec.forward_flop(), (spec.needs_dx ? 2 : 1) * spec.forward_flop());
}

BatchNorm::BatchNorm(CellMemory& memory, const std::string& name, const ops::BatchNormSpec& spec)
    : spec_(typed(spec, memory)) {
  const auto parameter = [&](const char* suffix, ParameterKind kind) {
    return memory.parameter({.name = name + suffix, .kind = kind, .dims = {spec.x.c}});
  };
  gamma_ = memory.parameter(
      {.name = name + ".weight", .kind = ParameterKind::kScale, .dims = {spec.x.c}, .joins_shortcut = spec.residual});
  beta_ = parameter(".bias", ParameterKind::kShift);
  running_mean_ = parameter(".running_mean", ParameterKind::kRunningMean);
  running_var_ = parameter(".running_var", ParameterKind::kRunningVariance);
  mean_ = memory.noted_floats(spec.x.c);
  inv_std_ = memory.noted_floats(spec.x.c);
  var_unbiased_ = memory.noted_floats(spec.x.c);
  num_gradients_ = running_var_.offset + spec.x.c - gamma_.offset;
  gradients_ = memory.kept_floats(num_gradients_);
}

void BatchNorm::forward(const Frame& frame, const void* x, void* y, const void* residual,
                        const ops::ChannelSums& sums) const {
  if (frame.training) {
    op_->forward({.x = x,
                  .residual = residual,
                  .gamma = frame[gamma_],
                  .beta = frame[beta_],
                  .sum = sums.sum,
                  .square_sum = sums.square_sum},
                 {.y = y,
                  .mean = frame.floats(mean_),
                  .inv_std = frame.floats(inv_std_),
                  .var_unbiased = frame.floats(var_unbiased_)});
  } else {
    op_->infer({.x = x,
                .residual = residual,
                .gamma = frame[gamma_],
                .beta = frame[beta_],
                .running_mean = frame[running_mean_],
                .running_var = frame[running_var_],
                .y = y});
  }
}

void BatchNorm::recompute(const Frame& frame, const void* x, void* y) const {
  if (!frame.training) return forward(frame, x, y);
  op_->forward_again({.x = x, .gamma = frame[gamma_], .beta = frame[beta_]},
                     {.y = y, .mean = frame.floats(mean_), .inv_std = frame.floats(inv_std_)});
}

void BatchNorm::backward(const Frame& frame, const void* x, const void* y, const Gradients& gradients) const {
  if (!frame.training) {
    op_->infer_backward({.dy = gradients.dy,
                         .y = y,
                         .gamma = frame[gamma_],
                         .running_var = frame[running_var_],
                         .dx = gradients.dx,
                         .dresidual = gradients.dresidual});
    return;
  }
  op_->backward({.dy = gradients.dy,
                 .x = x,
                 .y = y,
                 .gamma = frame[gamma_],
                 .beta = frame[beta_],
                 .mean = frame.floats(mean_),
                 .inv_std = frame.floats(inv_std_),
                 .var_unbiased = frame.floats(var_unbiased_),
                 .summed = gradients.summed},
                {.dx = gradients.dx,
                 .dresidual = gradients.dresidual,
                 .dgamma = gradient(frame, gamma_),
                 .dbeta = gradient(frame, beta_),
                 .mean = gradient(frame, running_mean_),
                 .var_unbiased = gradient(frame, running_var_)});
}

// In the arena, or kept in the same order.
float* BatchNorm::gradient(const Frame& frame, ParameterRef p) const {
  return frame.kept == nullptr ? frame.gradient(p) : frame.floats(gradients_) + (p.offset - gamma_.offset);
}

ops::NormalisedInput BatchNorm::as_input(const Frame& frame, const void* x) const {
  return {.a = x,
          .gamma = frame[gamma_],
          .beta = frame[beta_],
          .mean = frame.floats(mean_),
          .inv_std = frame.floats(inv_std_)};
}

ops::NormalisedInputGradients BatchNorm::sum_places(const Frame& frame, void* g) const {
  return {.g = g, .dgamma = gradient(frame, gamma_), .dbeta = gradient(frame, beta_)};
}

void BatchNorm::backward_weight(const Frame& frame) const {
  elementwise_->copy(frame[gradients_], frame.gradient(gamma_), num_gradients_ * kFloatBytes);
}

namespace {

ops::ConvolutionSpec convolution_of(const ConvBatchNormSpec& spec) {
  assert(spec.before == nullptr || spec.before->has_plain_relu());
  ops::ConvolutionSpec convolution = spec.convolution;
  convolution.x_is_normalised = spec.before != nullptr;
  return convolution;
}

}  // namespace

ConvBatchNorm::ConvBatchNorm(CellMemory& memory, const ConvBatchNormSpec& spec)
    : before_(spec.before),
      conv_(memory, spec.conv, convolution_of(spec)),
      bn_(memory, spec.bn, {.x = conv_.y(), .relu = spec.relu, .residual = spec.residual}),
      a_(memory.saved(conv_.y())),
      da_(memory.kept(conv_.y())),
      sum_(memory.scratch_floats(conv_.y().c)),
      square_sum_(memory.scratch_floats(conv_.y().c)) {
  if (spec.before != nullptr) spec.before->behind_ = this;
}

// Recomputed by the engine that forward used, so with the same bits.
ops::ChannelSums ConvBatchNorm::convolve(const Frame& frame, const void* x) const {
  const ops::ChannelSums sums{.sum = frame.floats(sum_), .square_sum = frame.floats(square_sum_)};
  if (normalises_x(frame)) {
    conv_.normalise_and_forward(normalised_x(frame), frame[a_], sums);
  } else if (frame.training && conv_.gives_sums()) {
    conv_.forward_with_sums(x, frame[a_], sums);
  } else {
    conv_.forward(x, frame[a_]);
    return {};
  }
  return sums;
}

void ConvBatchNorm::forward(const Frame& frame, const void* x, void* y, const void* residual) const {
  const ops::ChannelSums sums = convolve(frame, x);                                          // a  (N,P,Q,K)
  bn_.forward(frame, frame[a_], leaves_y_to_the_next(frame) ? nullptr : y, residual, sums);  // y  (N,P,Q,K)
}

void ConvBatchNorm::recompute(const Frame& frame, const void* x, void* y) const {
  convolve(frame, x);
  if (!leaves_y_to_the_next(frame)) bn_.recompute(frame, frame[a_], y);
}

// Batch norm's backward alone reads a, and with running statistics not even that.
void ConvBatchNorm::recompute(const Frame& frame, const void* x) const {
  if (frame.training && !frame.is_by_weight()) convolve(frame, x);
}

bool ConvBatchNorm::normalises_x(const Frame& frame) const {
  return before_ != nullptr && frame.training && conv_.normalises();
}

ops::NormalisedInput ConvBatchNorm::normalised_x(const Frame& frame) const {
  return before_->bn_.as_input(frame, frame[before_->a_]);
}

// A frozen cell's batch norm has no sums.
bool ConvBatchNorm::sums_gradients_before(const Frame& frame) const {
  return before_ != nullptr && frame.training && conv_.sums_gradients();
}

void ConvBatchNorm::backward(const Frame& frame, const void* x, const void* y, const Gradients& gradients) const {
  void* da = frame.kept == nullptr ? gradients.da : frame[da_];
  bn_.backward(frame, frame[a_], y,
               {.dy = gradients.dy, .dx = da, .dresidual = gradients.dresidual, .summed = gradients.summed});
  if (sums_gradients_before(frame)) {
    assert(gradients.dx != nullptr);
    conv_.backward_input_with_sums(da, normalised_x(frame), before_->bn_.sum_places(frame, gradients.dx));
  } else if (gradients.dx != nullptr) {
    conv_.backward_input(da, gradients.dx);
  }
  if (frame.gradients != nullptr) convolve_by_weight(frame, x, da);
}

void ConvBatchNorm::backward_weight(const Frame& frame, const void* x) const {
  convolve_by_weight(frame, x, frame[da_]);
  bn_.backward_weight(frame);
}

void ConvBatchNorm::convolve_by_weight(const Frame& frame, const void* x, const void* da) const {
  if (normalises_x(frame)) {
    conv_.normalise_and_backward_weight(frame, normalised_x(frame), da);
  } else {
    conv_.backward_weight(frame, x, da);
  }
}

Linear::Linear(CellMemory& memory, const std::string& name, const ops::LinearSpec& spec)
    : spec_(typed(spec, memory)),
      weight_(memory.parameter({.name = name + ".weight",
                                .kind = ParameterKind::kLinearWeight,
                                .dims = {spec.num_outputs, spec.num_inputs},
                                .fan_in = spec.num_inputs})),
      bias_(memory.parameter({.name = name + ".bias",
                              .kind = ParameterKind::kLinearBias,
                              .dims = {spec.num_outputs},
                              .fan_in = spec.num_inputs})),
      dy_(memory.kept({spec.n, 1, 1, spec.num_outputs})) {
  memory.add_flop(spec.forward_flop(), 2 * spec.forward_flop());
}

void Linear::backward(const Frame& frame, const void* x, const void* dy, void* dx) const {
  op_->backward_input(dy, frame.weights[weight_], dx);
  if (frame.gradients != nullptr) backward_weight(frame, x, dy);
  if (frame.kept != nullptr) elementwise_->copy(dy, frame[dy_], spec_.n * spec_.num_outputs * size_of(spec_.type));
}

}  // namespace convoy
