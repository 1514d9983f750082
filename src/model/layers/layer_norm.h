/// Layer normalisation.
#pragma once

#include <string>

#include "model/cell_builder.h"

namespace convoy {

/// Adds y = gamma * (x - mean) / sqrt(var + epsilon) + beta, with mean and var over the C values of each position.
/// x, y (N,H,W,C)
/// NAME.weight is gamma, NAME.bias is beta, each (C).
Value layer_norm(const std::string& name, const Value& x, float epsilon = 1e-5f);

}  // namespace convoy
