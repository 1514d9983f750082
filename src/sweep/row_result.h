/// The measurements of a row of a sweep, in one round and over all rounds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/schedule/timeline.h"

namespace convoy {

/// The measurement of a row in one round.
struct RowMeasurement {
  std::string failure;  ///< why the measurement failed; then the other members mean nothing. Empty: it succeeded
  std::int64_t stages = 0, replicas = 0;
  std::int64_t num_parameters = 0;  ///< number of parameters of the network
  double step_seconds = 0;          ///< training: median duration of the round's steps; prediction: their mean
  double predicted_seconds = 0;     ///< duration of a step as the planner predicts it; 0: not predicted
  bool has_shares = false;          ///< whether `shares` was measured; only in trainings
  TimeShares shares;                ///< how the time of all ranks was spent
  /// Memory of the rank with the least memory, and of the rank with the most.
  std::int64_t min_memory_bytes = 0, max_memory_bytes = 0;
};

/// The measurements of a row over all rounds.
struct RowResult {
  std::string failure;          ///< failure of the first round that failed; empty: none failed
  std::int64_t num_rounds = 0;  ///< number of rounds with a measurement; 0 if a round failed
  double min_step_seconds = 0, max_step_seconds = 0;
  /// The round with the median step. If the number of rounds is even, the duration of a step is the mean of the two
  /// rounds in the middle, and everything else is that of the faster one. The memory is the least and the most over all
  /// rounds.
  RowMeasurement median;
};

/// Combines the measurements of a row from several rounds.
RowResult summarise(const std::vector<RowMeasurement>& rounds);

}  // namespace convoy
