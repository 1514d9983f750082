/// What was measured of a row: in one round, and over all of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/schedule/timeline.h"

namespace convoy {

/// A row in one round. Where `failure` says why there is nothing, the rest counts for nothing.
struct RowMeasurement {
  std::string failure;
  std::int64_t stages = 0, replicas = 0;
  std::int64_t num_parameters = 0;  ///< of the network
  double step_seconds = 0;          ///< training: the median of the round's steps; prediction: their mean
  double predicted_seconds = 0;     ///< of a step, by the planner; 0: not predicted
  bool has_shares = false;          ///< of training
  TimeShares shares;                ///< of all ranks' time
  std::int64_t min_memory_bytes = 0, max_memory_bytes = 0;  ///< the rank that took least, and most
};

/// A row over all rounds that it was measured in.
struct RowResult {
  std::string failure;
  std::int64_t num_rounds = 0;  ///< 0: not measured, for `failure` where there is one
  double min_step_seconds = 0, max_step_seconds = 0;
  RowMeasurement median;  ///< the round of median step, but for memory: the least and the most of all rounds. Of an
                          ///< even number of rounds the step is the mean of the two in the middle, all else the faster
                          ///< one's
};

RowResult summarise(const std::vector<RowMeasurement>& rounds);

}  // namespace convoy
