/// LayerScale: a trained factor for each channel.
#pragma once

#include <string>

#include "model/cell_builder.h"

namespace convoy {

/// Adds y = gamma * x with one gamma per channel.    x, y (N,H,W,C)
/// NAME is gamma (C,1,1), a parameter with the initial value `initial`.
/// Touvron et al. 2021, "Going deeper with image transformers", section 2.
Value layer_scale(const std::string& name, const Value& x, double initial);

}  // namespace convoy
