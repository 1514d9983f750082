/// The sections that describe a training run from its beginning to its end: train, checkpoint and run.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "convoy/base/metrics.h"
#include "convoy/params/choices.h"

namespace convoy {

/// The words of the list of metrics.
template <>
inline constexpr auto kChoices<MetricKind> = [] {
  std::array<Choice<MetricKind>, std::size(kMetrics)> words{};
  std::ranges::transform(kMetrics, words.begin(), [](const Metric& metric) {
    return Choice<MetricKind>{.value = metric.kind, .word = metric.name, .synonyms = metric.synonyms};
  });
  return words;
}();

/// The weights of the classes in the loss.
struct ClassWeights {
  bool balanced = false;        ///< true: all classes count equally, whatever their number of samples
  std::vector<double> factors;  ///< otherwise one factor per class, in proportion; empty: all equal

  bool operator==(const ClassWeights&) const = default;
};

struct TrainParams {
  double epochs = 10;
  std::int64_t max_steps = 0;  ///< 0: no limit but epochs
  std::uint64_t seed = 1;
  double label_smoothing = 0;
  ClassWeights class_weights;
  PrecisionKind precision = PrecisionKind::kF32;
  std::vector<std::string> freeze;         ///< patterns of names of frozen parameters: "layer1.*"
  double clip_norm = 0;                    ///< maximal norm of the gradient of all parameters; 0: not clipped
  double ema_decay = 0;                    ///< decay of the weights' moving average; 0: no average
  std::int64_t evaluate_every_epochs = 1;  ///< 0: only at the end
  MetricKind metric = MetricKind::kTop1;   ///< selects the best checkpoint; patience follows it
  std::int64_t patience_epochs = 0;  ///< epochs without a better value before training stops; 0: trains to the end
  BadStepKind on_bad_step = BadStepKind::kStop;
  double loss_limit = 0;            ///< a micro-batch's mean loss above it is bad; 0: no limit
  std::int64_t max_bad_steps = 10;  ///< maximal number skipped in a row
  double rollback_factor = 0.5;     ///< factor of the learning rate at each rollback
  std::int64_t max_rollbacks = 3;   ///< per run
  bool operator==(const TrainParams&) const = default;
};

struct CheckpointParams {
  double every_epochs = 1;       ///< 0: never
  std::int64_t every_steps = 0;  ///< 0: never
  std::int64_t keep = 2;         ///< number of newest ones to keep; 0: all
  bool best = true;              ///< also keeps best.h5, with the best train.metric
  bool background = true;        ///< true: written while training continues
  CheckpointFiles files = CheckpointFiles::kOne;
  std::string resume = "auto";    ///< auto, best, none, or a checkpoint's path
  bool allow_other_data = false;  ///< true: resumes even if data.train holds other images or labels
  bool operator==(const CheckpointParams&) const = default;
};

struct RunParams {
  std::string directory = "runs/convoy";
  std::int64_t threads = 0;  ///< compute threads per rank; 0: the cores bound to the rank, shared fairly
  PlacementKind placement = PlacementKind::kAuto;
  DeviceKind device = DeviceKind::kAuto;
  std::string engines;  ///< file of the engines of a GPU's backend; empty: engines.txt in `directory`
  ReductionKind reduction = ReductionKind::kInvariant;
  double bucket_mib = 4;        ///< approximate size of the buckets in which gradients are sent; never changes a bit
  std::int64_t trace = 0;       ///< training steps to record; 0: none
  std::int64_t profile = 0;     ///< training steps to measure layer by layer; 0: none
  double watchdog_seconds = 0;  ///< time without progress before the alarm; 0: from the duration of steps
  double watchdog_abort_seconds = 1800;  ///< time from the first alarm to the abort; 0: never
  std::int64_t fingerprint_every = 100;  ///< steps between fingerprints; 0: never
  std::int64_t audit_every = 0;          ///< one step in this number is checked by other replicas; 0: none
  double rank_seconds = 60;              ///< time between two rows of each rank
  bool tensorboard = false;              ///< whether event files are written
  bool operator==(const RunParams&) const = default;
};

}  // namespace convoy
