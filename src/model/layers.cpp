/// Layers: parameter names as torchvision's, arithmetic from the device's library.
#include "model/layers.h"

namespace convoy {

Convolution::Convolution(CellMemory& memory, const std::string& name, const ops::ConvolutionSpec& spec)
    : spec_(spec),
      weight_(memory.parameter({.name = name + ".weight",
                                .kind = ParameterKind::kConvolutionWeight,
                                .dims = {spec.num_filters, spec.x.c, spec.kernel, spec.kernel},
                                .fan_in = spec.x.c * spec.kernel * spec.kernel})) {
  memory.add_flop(spec.forward_flop(), (spec.needs_dx ? 2 : 1) * spec.forward_flop());
}

BatchNorm::BatchNorm(CellMemory& memory, const std::string& name, const ops::BatchNormSpec& spec) : spec_(spec) {
  const auto parameter = [&](const char* suffix, ParameterKind kind) {
    return memory.parameter({.name = name + suffix, .kind = kind, .dims = {spec.x.c}});
  };
  gamma_ = parameter(".weight", ParameterKind::kScale);
  beta_ = parameter(".bias", ParameterKind::kShift);
  running_mean_ = parameter(".running_mean", ParameterKind::kRunningMean);
  running_var_ = parameter(".running_var", ParameterKind::kRunningVariance);
  const Shape per_channel{1, 1, 1, spec.x.c};
  mean_ = memory.saved(per_channel);
  inv_std_ = memory.saved(per_channel);
  var_unbiased_ = memory.saved(per_channel);
}

void BatchNorm::plan(ops::Library& library) {
  op_ = library.batch_norm(spec_);
  elementwise_ = &library.elementwise();
}

void BatchNorm::forward(const Frame& frame, const float* x, float* y, const float* residual) const {
  if (frame.training) {
    op_->forward({.x = x, .residual = residual, .gamma = frame[gamma_], .beta = frame[beta_]},
                 {.y = y, .mean = frame[mean_], .inv_std = frame[inv_std_], .var_unbiased = frame[var_unbiased_]});
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

void BatchNorm::backward(const Frame& frame, const float* x, const float* y, const float* dy, float* dx,
                         float* dresidual) const {
  op_->backward({.dy = dy,
                 .x = x,
                 .y = y,
                 .gamma = frame[gamma_],
                 .beta = frame[beta_],
                 .mean = frame[mean_],
                 .inv_std = frame[inv_std_]},
                {.dx = dx, .dresidual = dresidual, .dgamma = frame.gradient(gamma_), .dbeta = frame.gradient(beta_)});
  elementwise_->copy(frame[mean_], frame.gradient(running_mean_), spec_.x.c);
  elementwise_->copy(frame[var_unbiased_], frame.gradient(running_var_), spec_.x.c);
}

Linear::Linear(CellMemory& memory, const std::string& name, const ops::LinearSpec& spec)
    : spec_(spec),
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
