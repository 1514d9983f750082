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
  /// Otherwise uniform within 1 / sqrt(C), as torch.nn.Linear's.
  std::optional<InitialValues> initial_weight = {}, initial_bias = {};
};

struct LinearParameters {
  ParameterRef weight, bias;
};

/// w (K,C), b (K), for a layer that does the work of a linear one of C inputs.
LinearParameters add_linear_parameters(CellBuilder& cell, std::int64_t num_inputs, const LinearSettings& settings);

/// y = x w^T + b    x (N,T,1,C)   w (K,C)   b (K)   y (N,T,1,K)
Value linear(const Value& x, const LinearSettings& settings);

/// w is NAME.weight, b NAME.bias.
Value linear(const std::string& name, const Value& x, std::int64_t num_outputs);

/// Likewise, with y in float32: what the loss reads.
Value logits(const std::string& name, const Value& x, std::int64_t num_classes);

}  // namespace convoy
