/// The measurements of a row, in one round and over all rounds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/schedule/timeline.h"

namespace convoy {

/// The measurement of a row in one round.
struct RowMeasurement {
  std::string failure;  ///< why there is no measurement; then the other members mean nothing. Empty: there is one
  std::int64_t stages = 0, replicas = 0;
  std::int64_t num_parameters = 0;  ///< parameters of the network
  double step_seconds = 0;          ///< training: median of the round's steps; prediction: their mean
  double predicted_seconds = 0;     ///< a step as the planner predicts it; 0: not predicted
  bool has_shares = false;          ///< whether `shares` was measured, as in training
  TimeShares shares;                ///< shares of all ranks' time
  std::int64_t min_memory_bytes = 0, max_memory_bytes = 0;  ///< memory of the ranks with the least and the most
};

/// A row over all rounds in which it was measured.
struct RowResult {
  std::string failure;          ///< the failure of the first round that has failed; empty: none has
  std::int64_t num_rounds = 0;  ///< rounds with a measurement; 0 if any round has failed
  double min_step_seconds = 0, max_step_seconds = 0;
  /// The round with the median step. Of an even number of rounds the step is the mean of the two in the middle, all
  /// else that of the faster one. Memory is the least and the most of all rounds.
  RowMeasurement median;
};

/// Summarises the rounds of a row.
RowResult summarise(const std::vector<RowMeasurement>& rounds);

}  // namespace convoy
