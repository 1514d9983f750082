/// The objectives of a network that computes its losses itself.
#pragma once

#include <string>
#include <vector>

#include "model/cell_builder.h"

namespace convoy {

struct Objective {
  std::string name;  ///< name that logs and tables show: "masked words"
  Value scores;      ///< (N,1,1,3) float32: the ops::SampleScore of each sample
};

/// Returns the output for the network's last cell: the scores of all O objectives, one after the other, (O,N,1,3)
/// float32. The step's loss is the sum of the objectives' losses. `all` must not be empty.
Value objectives(const std::vector<Objective>& all);

}  // namespace convoy
