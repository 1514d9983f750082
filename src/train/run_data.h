/// What a run trains and measures on, and how many steps that makes.
#pragma once

#include <cstdint>

#include "convoy/io/checkpoint.h"
#include "convoy/io/dataset.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// Both splits, opened and compared before anything large is allocated. Throws RequestError where they are not what one
/// network can be trained on and tested with.
struct RunData {
  explicit RunData(const Parameters& params);

  io::Dataset train, test;
  io::ModelCard card;
};

struct StepCount {
  std::int64_t an_epoch = 0;  ///< what is left over of an epoch waits for another epoch's shuffle
  std::int64_t total = 0;
};

/// Throws RequestError where the data have no whole step.
StepCount count_steps(const Parameters& params, const io::DatasetInfo& data);

}  // namespace convoy
