/// Collects the sums of the last stages on rank 0.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "convoy/base/metrics.h"
#include "convoy/ops/softmax_cross_entropy.h"

#include "step/rank_runtime.h"
#include "step/step_channel.h"

namespace convoy {

/// Returns the value, but a NaN without its sign, so that all files and messages write it as "nan".
inline double without_nan_sign(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}
/// The mean loss of the samples that have a label; NaN if none has one.
inline double mean_loss(const ops::LossSums& sums) {
  return without_nan_sign(sums.loss / static_cast<double>(sums.num_samples));
}

/// The metrics of one step or several, over all replicas: the micro-batches' sums, added in their order.
struct StepMetrics {
  std::vector<ops::LossSums> objectives = {{}};  ///< at least one, in the plan's order
  /// The counts of each class; empty for training steps, which do not count them.
  std::vector<ClassCounts> classes = {};
  std::int64_t num_among_five = 0;  ///< labels that are among the kNumGuesses largest logits; 0 for training steps

  /// The sum of the objectives' losses.
  double mean_loss() const;
  /// The counts of the whole network: the sum of the losses, the labels of the first objective. They refer to these
  /// metrics, which must outlive them.
  MetricCounts counts() const;
  MetricCounts counts_of(std::int64_t objective) const;
  std::int64_t num_samples() const { return objectives.front().num_samples; }
  StepMetrics& operator+=(const StepMetrics& other);
};

/// Brings the metrics of steps to rank 0. All ranks post every step; rank 0 collects a step's metrics one step later
/// (StepChannel).
class MetricsChannel {
 public:
  MetricsChannel(const RankRuntime& runtime, int tag);

  /// Starts the transfer of the latest step's sums. At most one posted step may be uncollected.
  void post() { channel_.post(std::as_bytes(runtime_.sums())); }
  /// On rank 0: returns the metrics of the oldest posted step. Waits until they have arrived.
  StepMetrics collect();
  /// On rank 0: adds the oldest posted step to these metrics, micro-batch by micro-batch, so that a sum over several
  /// steps does not depend on how many micro-batches each of them had.
  void collect_into(StepMetrics& metrics);
  /// Waits until all posted messages have left. Called before the end.
  void finish() { channel_.finish(); }

 private:
  const RankRuntime& runtime_;
  std::int64_t num_objectives_;
  StepChannel channel_;
};

}  // namespace convoy
