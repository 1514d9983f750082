/// What a checkpoint tells about its training, so that a run can be continued.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace convoy::io {

/// Sums of one of the network's objectives over the steps of an epoch.
struct EpochSums {
  double loss = 0;
  std::int64_t num_correct = 0, num_samples = 0, num_labels = 0;

  bool operator==(const EpochSums&) const = default;
};

struct TrainingState {
  std::int64_t step = 0;     ///< steps done
  std::int64_t samples = 0;  ///< seen in training; the position in the epoch follows from `step`
  std::int64_t seed = 0;
  std::int64_t batch_global = 0;
  std::int64_t batch_micro = 0;
  std::int64_t num_samples = 0;     ///< of the training set
  std::int64_t train_hash = 0;      ///< Dataset::content_hash() of the training set; 0: not known, from an older Convoy
  std::int64_t metric_hash = 0;     ///< content hash of the data set on which best_value was measured; 0: not known
  std::int64_t evaluated_step = 0;  ///< the step whose row is the latest in log.csv
  std::string metric = "top1";      ///< train.metric; files older than that key use top-1
  double best_value = 0;            ///< best value of `metric` so far on data.val, or else data.test
  std::int64_t best_step = 0;       ///< step at which best_value was measured; 0: not measured yet
  std::int64_t updates = 0;         ///< number of steps that were applied
  double loss_scale = 1;            ///< fp16: factor of the loss's gradient
  std::int64_t loss_scale_steps = 0;  ///< steps since loss_scale last changed
  /// Sums over the unfinished epoch, by objective (at least one), so that its line in the log is the same after a
  /// restart.
  std::vector<EpochSums> epoch = {{}};
  /// The range of the training loss (LossRange): its moving average, the lowest value of this average, and the step at
  /// which the loss left its range (0: it is within).
  double loss_average = 0;
  double loss_lowest = std::numeric_limits<double>::infinity();
  std::int64_t loss_left_step = 0;
  /// Bad steps (run/bad_steps.h): the number of skipped steps, in all and in a row, the number of rollbacks, and the
  /// factor by which these changed the learning rate.
  std::int64_t bad_steps = 0, bad_steps_in_row = 0, rollbacks = 0;
  double rate_factor = 1;
};

}  // namespace convoy::io
