/// The mean over the words of a sequence.
#pragma once

#include "model/cell_builder.h"

namespace convoy {

/// Adds y[n], the mean of x[n,t] over t < lengths[n].    x (N,T,1,C)   lengths (N,1,1,1) int32   y (N,1,1,C)
Value sequence_mean(const Value& x, const Value& lengths);

}  // namespace convoy
