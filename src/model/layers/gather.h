/// Words taken out of sequences.
#pragma once

#include "model/cell_builder.h"

namespace convoy {

/// y[n,k] = x[n, positions[n,k]]; 0 for the position ops::kNoPosition. Other positions are in 0..T-1: see
/// ops::GatherOp. x (N,T,1,C)   positions (N,K,1,1) int32   y (N,K,1,C)
Value gather(const Value& x, const Value& positions);

/// y[n] = x[n,0]    x (N,T,1,C)   y (N,1,1,C)
Value first_word(const Value& x);

}  // namespace convoy
