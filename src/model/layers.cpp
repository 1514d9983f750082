/// Layers: parameter names as torchvision's, arithmetic from the device's library.
#include "model/layers.h"

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
  gamma_ = parameter(".weight", ParameterKind::kScale);
  beta_ = parameter(".bias", ParameterKind::kShift);
  running_mean_ = parameter(".running_mean", ParameterKind::kRunningMean);
  running_var_ = parameter(".running_var", ParameterKind::kRunningVariance);
  mean_ = memory.saved_floats(spec.x.c);
  inv_std_ = memory.saved_floats(spec.x.c);
  var_unbiased_ = memory.saved_floats(spec.x.c);
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

void BatchNorm::backward(const Frame& frame, const void* x, const void* y, const void* dy, void* dx,
                         void* dresidual) const {
  if (!frame.training) {
    op_->infer_backward({.dy = dy,
                         .y = y,
                         .gamma = frame[gamma_],
                         .running_var = frame[running_var_],
                         .dx = dx,
                         .dresidual = dresidual});
    return;
  }
  op_->backward({.dy = dy,
                 .x = x,
                 .y = y,
                 .gamma = frame[gamma_],
                 .beta = frame[beta_],
                 .mean = frame.floats(mean_),
                 .inv_std = frame.floats(inv_std_),
                 .var_unbiased = frame.floats(var_unbiased_)},
                {.dx = dx,
                 .dresidual = dresidual,
                 .dgamma = frame.gradient(gamma_),
                 .dbeta = frame.gradient(beta_),
                 .mean = frame.gradient(running_mean_),
                 .var_unbiased = frame.gradient(running_var_)});
}

ConvBatchNorm::ConvBatchNorm(CellMemory& memory, const ConvBatchNormSpec& spec)
    : conv_(memory, spec.conv, spec.convolution),
      bn_(memory, spec.bn, {.x = conv_.y(), .relu = spec.relu, .residual = spec.residual}),
      a_(memory.saved(conv_.y())),
      sum_(memory.scratch_floats(conv_.y().c)),
      square_sum_(memory.scratch_floats(conv_.y().c)) {}

void ConvBatchNorm::forward(const Frame& frame, const void* x, void* y, const void* residual) const {
  if (frame.training && conv_.gives_sums()) {
    const ops::ChannelSums sums{.sum = frame.floats(sum_), .square_sum = frame.floats(square_sum_)};
    conv_.forward_with_sums(x, frame[a_], sums);
    bn_.forward(frame, frame[a_], y, residual, sums);
  } else {
    conv_.forward(x, frame[a_]);                 // a  (N,P,Q,K)
    bn_.forward(frame, frame[a_], y, residual);  // y  (N,P,Q,K)
  }
}

void ConvBatchNorm::backward(const Frame& frame, const void* x, const void* y, const Gradients& gradients) const {
  bn_.backward(frame, frame[a_], y, gradients.dy, gradients.da, gradients.dresidual);
  conv_.backward(frame, x, gradients.da, gradients.dx);
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
                              .fan_in = spec.num_inputs})) {
  memory.add_flop(spec.forward_flop(), 2 * spec.forward_flop());
}

}  // namespace convoy
