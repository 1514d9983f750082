/// The linear (fully connected) layer, applied to each position of a sequence.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/cell_builder.h"

namespace convoy {

struct LinearSettings {
  std::string weight, bias;  ///< names of the parameters
  std::int64_t num_outputs = 0;
  /// Distributions of the initial values. By default uniform in (-1 / sqrt(C), 1 / sqrt(C)), as in torch.nn.Linear.
  std::optional<InitialValues> initial_weight = {}, initial_bias = {};
};

struct LinearParameters {
  ParameterRef weight, bias;
};

/// Adds the parameters w (K,C) and b (K) of a linear layer to the cell, for a layer that computes a linear layer as a
/// part of its work. num_inputs is C; settings.num_outputs is K.
LinearParameters add_linear_parameters(CellBuilder& cell, std::int64_t num_inputs, const LinearSettings& settings);

/// Adds y = x w^T + b    x (N,T,1,C)   w (K,C)   b (K)   y (N,T,1,K)
Value linear(const Value& x, const LinearSettings& settings);

/// Adds a linear layer with the weight NAME.weight and the bias NAME.bias.
Value linear(const std::string& name, const Value& x, std::int64_t num_outputs);

/// Adds the linear layer NAME, whose output is float32, as the loss reads it. Its results for the positions of a sample
/// become one vector.    x (N,T,1,C)   y (N,1,1,T*K), K = num_outputs
Value logits(const std::string& name, const Value& x, std::int64_t num_outputs);

/// Adds the linear layer NAME, whose output is float32, for each pixel.    x (N,H,W,C)   y (N,H,W,K), K = num_outputs
Value pixel_logits(const std::string& name, const Value& x, std::int64_t num_outputs);

}  // namespace convoy
