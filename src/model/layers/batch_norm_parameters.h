/// The parameters of one batch norm, the statistics of its micro-batch, and the locations of their gradients. Each
/// layer that normalises has them, alone or fused with what follows it.
#pragma once

#include <string>

#include "convoy/ops/batch_norm.h"

#include "model/cell_builder.h"
#include "model/layers/early_gradients.h"

namespace convoy {

struct BatchNormParameters {
  /// NAME.weight is gamma, NAME.bias is beta, NAME.running_mean and NAME.running_var are the statistics, each (C).
  BatchNormParameters(CellMemory& memory, const std::string& name, std::int64_t num_channels);

  float* mean_of(const Frame& frame) const { return floats(frame, mean); }
  float* inv_std_of(const Frame& frame) const { return floats(frame, inv_std); }
  float* var_unbiased_of(const Frame& frame) const { return floats(frame, var_unbiased); }

  /// The arguments of BatchNormOp and BatchNormMaxPoolOp: tensors, parameters, statistics. The caller adds what a sum
  /// before the ReLU needs (residual, dy_addend, dresidual, mask) and, with a ReLU, `y` of inference_gradient.
  ops::BatchNormInputs inputs(const Frame& frame, const Tensor& x) const;
  ops::BatchNormOutputs outputs(const Frame& frame, const Tensor& y) const;
  ops::BatchNormInference inference(const Frame& frame, const Tensor& x, const Tensor& y) const;
  ops::BatchNormGradInputs gradient_inputs(const Frame& frame, const GradientLocation& dy, const Tensor& x) const;
  ops::BatchNormGradOutputs gradient_outputs(const Frame& frame, const GradientLocation& dx) const;
  ops::BatchNormInferenceGrad inference_gradient(const Frame& frame, const GradientLocation& dy,
                                                 const GradientLocation& dx) const;

  std::size_t gamma_number;                             ///< index among the cell's parameters
  ParameterRef gamma, beta, running_mean, running_var;  ///< neighbours in the arena
  EarlyGradients gradients;                             ///< of these four parameters
  TensorLocation mean, inv_std, var_unbiased;           ///< (C) of the micro-batch

 private:
  static float* floats(const Frame& frame, const TensorLocation& location) {
    return reinterpret_cast<float*>(frame[location]);
  }
};

}  // namespace convoy
