/// Reserves the memory of a batch norm's parameters and statistics, and passes it to operations.
#include "model/layers/batch_norm_parameters.h"

namespace convoy {

BatchNormParameters::BatchNormParameters(CellMemory& memory, const std::string& name, std::int64_t num_channels)
    : gamma_number(memory.parameters().size()) {
  const auto parameter = [&](const char* suffix, double initial, UpdateRule rule) {
    return memory.parameter({.name = name + suffix,
                             .dims = {num_channels},
                             .initial = {InitialValues::Kind::kConstant, initial},
                             .rule = rule,
                             .role = ParameterRole::kNormOrBias});
  };
  gamma = parameter(".weight", 1, UpdateRule::kOptimizer);
  beta = parameter(".bias", 0, UpdateRule::kOptimizer);
  running_mean = parameter(".running_mean", 0, UpdateRule::kMovingAverage);
  running_var = parameter(".running_var", 1, UpdateRule::kMovingAverage);
  for (TensorLocation* location : {&mean, &inv_std, &var_unbiased})
    *location = memory.statistic(num_channels * kFloatBytes);
  gradients = EarlyGradients(memory, gamma, running_var, num_channels);
}

ops::BatchNormInputs BatchNormParameters::inputs(const Frame& frame, const Tensor& x) const {
  return {.x = frame[x.location], .gamma = frame[gamma], .beta = frame[beta]};
}

ops::BatchNormOutputs BatchNormParameters::outputs(const Frame& frame, const Tensor& y) const {
  return {.y = frame[y.location],
          .mean = mean_of(frame),
          .inv_std = inv_std_of(frame),
          .var_unbiased = var_unbiased_of(frame)};
}

ops::BatchNormInference BatchNormParameters::inference(const Frame& frame, const Tensor& x, const Tensor& y) const {
  return {.x = frame[x.location],
          .gamma = frame[gamma],
          .beta = frame[beta],
          .running_mean = frame[running_mean],
          .running_var = frame[running_var],
          .y = frame[y.location]};
}

ops::BatchNormGradInputs BatchNormParameters::gradient_inputs(const Frame& frame, const GradientLocation& dy,
                                                              const Tensor& x) const {
  return {.dy = frame[dy],
          .x = frame[x.location],
          .gamma = frame[gamma],
          .beta = frame[beta],
          .mean = mean_of(frame),
          .inv_std = inv_std_of(frame),
          .var_unbiased = var_unbiased_of(frame)};
}

ops::BatchNormGradOutputs BatchNormParameters::gradient_outputs(const Frame& frame, const GradientLocation& dx) const {
  return {.dx = frame[dx],
          .dgamma = gradients.at(frame, gamma),
          .dbeta = gradients.at(frame, beta),
          .mean = gradients.at(frame, running_mean),
          .var_unbiased = gradients.at(frame, running_var)};
}

ops::BatchNormInferenceGrad BatchNormParameters::inference_gradient(const Frame& frame, const GradientLocation& dy,
                                                                    const GradientLocation& dx) const {
  return {.dy = frame[dy], .gamma = frame[gamma], .running_var = frame[running_var], .dx = frame[dx]};
}

}  // namespace convoy
