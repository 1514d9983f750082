/// The parameters of one batch norm, its micro-batch's statistics, and where their gradients lie: for each layer that
/// normalises, alone or with what follows it.
#pragma once

#include <string>

#include "convoy/ops/batch_norm.h"

#include "model/cell_builder.h"
#include "model/layers/early_gradients.h"

namespace convoy {

struct BatchNormParameters {
  /// NAME.weight is gamma, NAME.bias beta, NAME.running_mean and NAME.running_var the statistics, each (C).
  BatchNormParameters(CellMemory& memory, const std::string& name, std::int64_t num_channels);

  float* mean_of(const Frame& frame) const { return floats(frame, mean); }
  float* inv_std_of(const Frame& frame) const { return floats(frame, inv_std); }
  float* var_unbiased_of(const Frame& frame) const { return floats(frame, var_unbiased); }

  std::size_t gamma_number;                             ///< among the cell's parameters
  ParameterRef gamma, beta, running_mean, running_var;  ///< neighbours in the arena
  EarlyGradients gradients;                             ///< of these four
  TensorLocation mean, inv_std, var_unbiased;           ///< (C) of the micro-batch

 private:
  static float* floats(const Frame& frame, const TensorLocation& location) {
    return reinterpret_cast<float*>(frame[location]);
  }
};

}  // namespace convoy
