/// The parameters of one batch norm, the statistics of its micro-batch, and the memory of their gradients. Each layer
/// that computes a batch norm, alone or with the layers that follow it, has them.
#pragma once

#include <string>

#include "convoy/ops/batch_norm.h"

#include "model/cell_builder.h"
#include "model/layers/early_gradients.h"

namespace convoy {

struct BatchNormParameters {
  /// Adds the parameters to `memory`: NAME.weight is gamma, NAME.bias is beta, NAME.running_mean and NAME.running_var
  /// are the running statistics, each (C).
  BatchNormParameters(CellMemory& memory, const std::string& name, std::int64_t num_channels);

  float* mean_of(const Frame& frame) const { return floats(frame, mean); }
  float* inv_std_of(const Frame& frame) const { return floats(frame, inv_std); }
  float* var_unbiased_of(const Frame& frame) const { return floats(frame, var_unbiased); }

  /// These functions return the arguments of BatchNormOp and BatchNormMaxPoolOp: tensors, parameters, statistics. If a
  /// residual is added before the ReLU, the caller sets residual, dy_addend, dresidual and mask. If there is a ReLU,
  /// the caller sets `y` of inference_gradient().
  ops::BatchNormInputs inputs(const Frame& frame, const Tensor& x) const;
  ops::BatchNormOutputs outputs(const Frame& frame, const Tensor& y) const;
  ops::BatchNormInference inference(const Frame& frame, const Tensor& x, const Tensor& y) const;
  ops::BatchNormGradInputs gradient_inputs(const Frame& frame, const GradientLocation& dy, const Tensor& x) const;
  ops::BatchNormGradOutputs gradient_outputs(const Frame& frame, const GradientLocation& dx) const;
  ops::BatchNormInferenceGrad inference_gradient(const Frame& frame, const GradientLocation& dy,
                                                 const GradientLocation& dx) const;

  std::size_t gamma_number;                             ///< index of gamma in CellMemory::parameters()
  ParameterRef gamma, beta, running_mean, running_var;  ///< they follow one another in the parameter arena
  EarlyGradients gradients;                             ///< gradients of gamma, beta, running_mean and running_var
  TensorLocation mean, inv_std, var_unbiased;           ///< the micro-batch's statistics, each (C)

 private:
  static float* floats(const Frame& frame, const TensorLocation& location) {
    return reinterpret_cast<float*>(frame[location]);
  }
};

}  // namespace convoy
