/// The parameters of one batch norm, the statistics of its micro-batch, and the memory of their gradients: what a layer
/// has for each branch that it normalises.
#pragma once

#include <string>

#include "convoy/ops/batch_norm.h"

#include "model/cell_builder.h"
#include "model/layers/early_gradients.h"

namespace convoy {

struct BatchNormParameters {
  /// Adds the parameters to `memory`: NAME.weight is gamma, NAME.bias is beta, NAME.running_mean and NAME.running_var
  /// are the running statistics, each (C). `momentum` is that of ParameterSpec.
  BatchNormParameters(CellMemory& memory, const std::string& name, std::int64_t num_channels, double momentum);

  /// These functions return a branch of the arguments of BatchNormOp: its tensors, its
  /// parameters and its statistics.
  ops::BatchNormForward::Branch forward_branch(const Frame& frame, const Tensor& x) const;
  ops::BatchNormBackward::Branch backward_branch(const Frame& frame, const LayerInput& input) const;

  std::size_t gamma_number;                             ///< index of gamma in CellMemory::parameters()
  ParameterRef gamma, beta, running_mean, running_var;  ///< they follow one another in the parameter arena
  EarlyGradients gradients;                             ///< gradients of gamma, beta, running_mean and running_var
  TensorLocation mean, inv_std, var_unbiased;           ///< the micro-batch's statistics, each (C)
};

}  // namespace convoy
