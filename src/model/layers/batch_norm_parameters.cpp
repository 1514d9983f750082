/// Reserves the memory of a batch norm's parameters and statistics.
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

}  // namespace convoy
