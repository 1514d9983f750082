/// Reserves the memory of a batch norm's parameters and statistics, and passes it to operations.
#include "model/layers/batch_norm_parameters.h"

namespace convoy {

namespace {

float* floats(const Frame& frame, const TensorLocation& location) {
  return reinterpret_cast<float*>(frame[location]);
}

}  // namespace

BatchNormParameters::BatchNormParameters(CellMemory& memory, const std::string& name, std::int64_t num_channels,
                                         double momentum)
    : gamma_number(memory.parameters().size()) {
  const auto parameter = [&](const char* suffix, double initial, UpdateRule rule) {
    return memory.parameter({.name = name + suffix,
                             .dims = {num_channels},
                             .initial = {InitialValues::Kind::kConstant, initial},
                             .rule = rule,
                             .role = ParameterRole::kNormOrBias,
                             .momentum = momentum});
  };
  gamma = parameter(".weight", 1, UpdateRule::kOptimizer);
  beta = parameter(".bias", 0, UpdateRule::kOptimizer);
  running_mean = parameter(".running_mean", 0, UpdateRule::kMovingAverage);
  running_var = parameter(".running_var", 1, UpdateRule::kMovingAverage);
  for (TensorLocation* location : {&mean, &inv_std, &var_unbiased})
    *location = memory.statistic(num_channels * kFloatBytes);
  gradients = EarlyGradients(memory, gamma, running_var, num_channels);
}

ops::BatchNormForward::Branch BatchNormParameters::forward_branch(const Frame& frame, const Tensor& x) const {
  return {.x = frame[x.location],
          .gamma = frame[gamma],
          .beta = frame[beta],
          .mean = floats(frame, mean),
          .inv_std = floats(frame, inv_std),
          .var_unbiased = floats(frame, var_unbiased),
          .running_mean = frame[running_mean],
          .running_var = frame[running_var]};
}

ops::BatchNormBackward::Branch BatchNormParameters::backward_branch(const Frame& frame, const LayerInput& input) const {
  return {.x = frame[input.tensor->location],
          .gamma = frame[gamma],
          .beta = frame[beta],
          .mean = floats(frame, mean),
          .inv_std = floats(frame, inv_std),
          .var_unbiased = floats(frame, var_unbiased),
          .running_var = frame[running_var],
          .dx = frame[*input.dx],
          .dgamma = gradients.at(frame, gamma),
          .dbeta = gradients.at(frame, beta),
          .drunning_mean = gradients.at(frame, running_mean),
          .drunning_var = gradients.at(frame, running_var)};
}

}  // namespace convoy
