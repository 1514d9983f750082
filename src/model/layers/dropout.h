/// Dropout.
#pragma once

#include "model/cell_builder.h"

namespace convoy {

/// x with a share p of its values set to 0 and the others divided by 1 - p, in training; elsewhere, and in a frozen
/// cell, x itself. What is drawn depends on the seed, the step, the micro-batch, the cell's name and how many layers of
/// the cell drew before.
Value dropout(const Value& x, double p);

}  // namespace convoy
