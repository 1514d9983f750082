/// What a checkpoint tells about its training, so that a run can be continued.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace convoy::io {

/// Sums over the steps of an epoch for one objective (loss) of the network.
struct EpochSums {
  double loss = 0;
  std::int64_t num_correct = 0, num_samples = 0, num_labels = 0;

  bool operator==(const EpochSums&) const = default;
};

struct TrainingState {
  std::int64_t step = 0;  ///< number of steps that the training has completed
  /// Number of samples that the training has read; the position in the epoch follows from `step`.
  std::int64_t samples = 0;
  std::int64_t seed = 0;
  std::int64_t batch_global = 0;
  std::int64_t batch_micro = 0;
  std::int64_t num_samples = 0;  ///< number of samples of the training set
  /// Dataset::content_hash() of the training set; 0: not known, since an older Convoy wrote the file.
  std::int64_t train_hash = 0;
  std::int64_t metric_hash = 0;     ///< content hash of the data set on which best_value was measured; 0: not known
  std::int64_t evaluated_step = 0;  ///< step of the last row of log.csv
  /// Metric that selects the best checkpoint (train.metric); older files without it use top-1.
  std::string metric = "top1";
  double best_value = 0;  ///< best value of `metric` so far, on data.val or, without it, on data.test
  /// Step of the best checkpoint: best_value was measured there. 0: not measured yet.
  std::int64_t best_step = 0;
  /// Loss that was measured at best_step, on the same samples: the lower one wins if two steps have the same value.
  /// NaN: not known, since an older Convoy wrote the file.
  double best_loss = std::numeric_limits<double>::quiet_NaN();
  /// First step at which best_value was measured; train.patience_epochs counts from here.
  std::int64_t improved_step = 0;
  std::int64_t updates = 0;           ///< number of steps whose update was applied, not skipped
  double loss_scale = 1;              ///< loss scale of fp16: the factor of the loss's gradient
  std::int64_t loss_scale_steps = 0;  ///< number of good steps in a row with this loss scale, after which it is doubled
  /// Sums over the steps of the unfinished epoch, for each objective (at least one), so that the epoch's line in the
  /// log is the same after a restart.
  std::vector<EpochSums> epoch = {{}};
  /// State of the check whether the loss diverges (LossRange): the moving average of the training loss, the lowest
  /// value of this average, and the step at which the loss left its normal range (0: it is within).
  double loss_average = 0;
  double loss_lowest = std::numeric_limits<double>::infinity();
  std::int64_t loss_left_step = 0;
  /// State of the handling of bad steps (run/bad_steps.h): the number of skipped steps, in all and in a row, and the
  /// number of rollbacks.
  std::int64_t bad_steps = 0, bad_steps_in_row = 0, rollbacks = 0;
  /// Factor by which rollbacks have changed the learning rate.
  double rate_factor = 1;

  /// Begins the search for the best checkpoint again.
  void forget_best() {
    best_value = 0;
    best_loss = std::numeric_limits<double>::quiet_NaN();
    best_step = improved_step = 0;
  }
};

}  // namespace convoy::io
