/// The sections that describe a training run from its beginning to its end: train, checkpoint and run.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "convoy/base/metrics.h"
#include "convoy/params/choices.h"

namespace convoy {

/// The words of train.metric: the names of the metrics, with their synonyms.
template <>
inline constexpr auto kChoices<MetricKind> = [] {
  std::array<Choice<MetricKind>, std::size(kMetrics)> words{};
  std::ranges::transform(kMetrics, words.begin(), [](const Metric& metric) {
    return Choice<MetricKind>{.value = metric.kind, .word = metric.name, .synonyms = metric.synonyms};
  });
  return words;
}();

/// The weights of the classes, labels or numbers in the loss.
struct ClassWeights {
  bool balanced = false;        ///< whether rare classes or labels make up for their small number of samples
  std::vector<double> factors;  ///< one factor per class, label or number; empty: all have the same

  bool operator==(const ClassWeights&) const = default;
};

struct TrainParams {
  double epochs = 10;
  std::int64_t max_steps = 0;  ///< number of steps after which the training ends; 0: only `epochs` ends it
  std::uint64_t seed = 1;
  std::optional<LossKind> loss;  ///< what is minimised; nothing: auto, the usual loss of the target's kind
  double huber_delta = 1;        ///< Huber loss: largest error that is squared, in standard deviations of the target
  double label_smoothing = 0;
  ClassWeights class_weights;
  PrecisionKind precision = PrecisionKind::kF32;
  std::vector<std::string> freeze;         ///< patterns of names of frozen parameters: "layer1.*"
  double clip_norm = 0;                    ///< largest norm of the gradient of all parameters; 0: it is not clipped
  double ema_decay = 0;                    ///< decay of the weights' moving average; 0: there is no average
  std::int64_t evaluate_every_epochs = 1;  ///< epochs from one evaluation to the next; 0: only the end is evaluated
  /// The metric that selects the best checkpoint and that patience follows; nothing: auto (StepPlan::metric()).
  std::optional<MetricKind> metric;
  std::int64_t patience_epochs = 0;  ///< epochs without a better value until the training ends; 0: it never ends early
  BadStepKind on_bad_step = BadStepKind::kStop;
  double loss_limit = 0;            ///< largest mean loss of a micro-batch that is not bad; 0: no limit
  std::int64_t max_bad_steps = 10;  ///< largest number of bad steps in a row that are skipped
  double rollback_factor = 0.5;     ///< factor of the learning rate at each rollback
  std::int64_t max_rollbacks = 3;   ///< largest number of rollbacks of a run
  bool operator==(const TrainParams&) const = default;
};

struct CheckpointParams {
  double every_epochs = 1;       ///< epochs from one checkpoint to the next; 0: no checkpoint is due by epochs
  std::int64_t every_steps = 0;  ///< steps from one checkpoint to the next; 0: no checkpoint is due by steps
  std::int64_t keep = 2;         ///< number of checkpoints that are kept, the newest ones; 0: all
  bool best = true;              ///< whether best.h5 is kept, the checkpoint with the best train.metric
  bool background = true;        ///< whether checkpoints are written while the training continues
  CheckpointFiles files = CheckpointFiles::kOne;
  std::string resume = "auto";    ///< "auto", "best", "none", or the path of a checkpoint
  bool allow_other_data = false;  ///< whether a run resumes even if data.train holds other samples
  bool operator==(const CheckpointParams&) const = default;
};

struct RunParams {
  std::string directory = "runs/convoy";
  std::int64_t threads = 0;  ///< number of computing threads per rank; 0: one for each core of the rank
  PlacementKind placement = PlacementKind::kAuto;
  DeviceKind device = DeviceKind::kAuto;
  std::string engines;  ///< path of the file of a GPU's engines; empty: engines.txt in `directory`
  ReductionKind reduction = ReductionKind::kInvariant;
  double bucket_mib = 4;        ///< approximate size of the buckets in which gradients are sent, in MiB
  std::int64_t trace = 0;       ///< number of training steps that are recorded; 0: none
  std::int64_t profile = 0;     ///< number of training steps that are measured layer by layer; 0: none
  double watchdog_seconds = 0;  ///< seconds without progress until the alarm; 0: they follow from the duration of steps
  double watchdog_abort_seconds = 1800;  ///< seconds from the first alarm to the end of the job; 0: it never ends
  std::int64_t fingerprint_every = 100;  ///< steps from one fingerprint to the next; 0: none
  std::int64_t audit_every = 0;          ///< steps from one that other replicas check to the next; 0: none is checked
  double rank_seconds = 60;              ///< seconds between two rows of each rank
  bool tensorboard = false;              ///< whether event files for TensorBoard are written
  bool operator==(const RunParams&) const = default;
};

}  // namespace convoy
