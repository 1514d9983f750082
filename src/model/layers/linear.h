/// The fully connected layer, applied to each position of a sequence.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/cell_builder.h"

namespace convoy {

struct LinearSettings {
  std::string weight, bias;  ///< names of the parameters
  std::int64_t num_outputs = 0;
  /// By default uniform within 1 / sqrt(C), as in torch.nn.Linear.
  std::optional<InitialValues> initial_weight = {}, initial_bias = {};
};

struct LinearParameters {
  ParameterRef weight, bias;
};

/// Adds the parameters w (K,C) and b (K) for a layer that does the work of a linear layer of C inputs.
LinearParameters add_linear_parameters(CellBuilder& cell, std::int64_t num_inputs, const LinearSettings& settings);

/// y = x w^T + b    x (N,T,1,C)   w (K,C)   b (K)   y (N,T,1,K)
Value linear(const Value& x, const LinearSettings& settings);

/// A linear layer whose w is NAME.weight and whose b is NAME.bias.
Value linear(const std::string& name, const Value& x, std::int64_t num_outputs);

/// A linear layer whose w is NAME.weight and whose b is NAME.bias, with y in float32: the loss reads it.
Value logits(const std::string& name, const Value& x, std::int64_t num_classes);

}  // namespace convoy
