/// The objectives of a network that computes its losses itself.
#pragma once

#include <string>
#include <vector>

#include "model/cell_builder.h"

namespace convoy {

struct Objective {
  std::string name;  ///< as shown to people: "masked words"
  Value scores;      ///< (N,1,1,3) float32: the ops::SampleScore of each sample
};

/// The last cell's output: the scores of one objective after the other, (O,N,1,3) float32. The step's loss is the sum
/// of the objectives' losses.
Value objectives(const std::vector<Objective>& all);

}  // namespace convoy
