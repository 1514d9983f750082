/// Softmax as a layer: the shares of the channels.
#pragma once

#include "model/cell_builder.h"

namespace convoy {

/// Adds y = exp(x) / sum of exp(x) over the C values of each position    x, y (N,H,W,C)
Value softmax(const Value& x);

}  // namespace convoy
