/// Layers that take single words out of sequences: the masked words, or the first word.
#pragma once

#include "model/cell_builder.h"

namespace convoy {

/// Adds y[n,k] = x[n, positions[n,k]], with zeros for the position ops::kNoPosition. Other positions must be in 0..T-1:
/// see ops::GatherOp.    x (N,T,1,C)   positions (N,K,1,1) int32   y (N,K,1,C)
Value gather(const Value& x, const Value& positions);

/// Adds y[n] = x[n,0], the first word of each sequence.    x (N,T,1,C)   y (N,1,1,C)
Value first_word(const Value& x);

}  // namespace convoy
