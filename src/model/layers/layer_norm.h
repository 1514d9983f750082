/// Normalisations with the statistics of one sample, or of one word or pixel.
#pragma once

#include <string>

#include "model/cell_builder.h"

namespace convoy {

/// Adds y = gamma * (x - mean) / sqrt(var + epsilon) + beta, with mean and var over the C values of each position.
/// x, y (N,H,W,C)
/// NAME.weight is gamma, NAME.bias is beta, each (C).
Value layer_norm(const std::string& name, const Value& x, float epsilon = 1e-5f);

/// Adds y = gamma * x / sqrt(mean of x^2 + epsilon), with the mean over the C values of each position. x, y (N,H,W,C)
/// NAME.weight is gamma (C). The default epsilon is that of torch.nn.RMSNorm.
Value rms_norm(const std::string& name, const Value& x, float epsilon = 0x1p-23f);

/// Adds y = gamma * (x - mean) / sqrt(var + epsilon) + beta, with mean and var over all pixels and the C / num_groups
/// channels of each group, for each sample. x, y (N,H,W,C); num_groups divides C.
/// NAME.weight is gamma, NAME.bias is beta, each (C).
Value group_norm(const std::string& name, const Value& x, std::int64_t num_groups, float epsilon = 1e-5f);

}  // namespace convoy
