/// Collects on rank 0 the losses and counts that the last stages have computed.
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
#include "step/step_loss.h"

namespace convoy {

/// Returns the value; a NaN loses its sign, so that all files and messages write it as "nan".
inline double without_nan_sign(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}
/// The mean loss of the samples that have a label; NaN if no sample has one.
inline double mean_loss(const ops::LossSums& sums) {
  return without_nan_sign(sums.loss / static_cast<double>(sums.num_samples));
}

/// The sums of one or several steps over all replicas, from which metrics are computed. The sums of the micro-batches
/// were added in their order.
struct StepMetrics {
  /// By objective, in the order of StepPlan::objectives(); at least one.
  std::vector<ops::LossSums> objectives = {{}};
  // Only evaluations compute the other members.
  /// Numbers of samples and predictions of each class or label.
  std::vector<ClassCounts> classes = {};
  std::int64_t num_among_five = 0;  ///< number of labels among the kNumGuesses largest logits of their sample
  std::vector<double> average_precisions = {};  ///< by label; NaN for a label that no sample has
  std::vector<TargetSums> targets = {};         ///< errors of each number that the network predicts

  /// Whether an evaluation has compared outputs with targets.
  bool has_scores() const { return !classes.empty() || !targets.empty(); }
  /// The sum of the mean losses of all objectives; NaN if no sample has a label of one of them.
  double mean_loss() const;
  /// The counts of the whole network: the sum of the mean losses, the labels of the first objective. The result refers
  /// to members of this object, which must outlive it.
  MetricCounts counts() const;
  /// The counts of one objective.
  MetricCounts counts_of(std::int64_t objective) const;
  /// Number of samples that have a label of the first objective.
  std::int64_t num_samples() const { return objectives.front().num_samples; }
  /// Adds the losses of other steps.
  StepMetrics& operator+=(const StepMetrics& other);
};

/// Sends the losses and counts of steps to rank 0. All ranks of the grid call post() after every step. Rank 0 collects
/// a step one step later, when its messages have arrived (StepChannel).
class MetricsChannel {
 public:
  /// `tag` is the MPI tag of the messages; no other channel may use it at the same time. `runtime` must outlive the
  /// channel.
  MetricsChannel(const RankRuntime& runtime, int tag);

  /// Starts to send the sums of the latest step: those of TrainingStep::loss() or EvaluationStep::loss(). At most one
  /// step that was posted before may be uncollected.
  void post(const StepLoss* loss) {
    channel_.post(loss == nullptr ? std::span<const std::byte>() : std::as_bytes(loss->sums()));
  }
  /// Called on rank 0: returns the sums of the oldest posted step. Waits until they have arrived.
  StepMetrics collect();
  /// Called on rank 0: waits until the sums of the oldest posted step have arrived, and adds them to `metrics`,
  /// micro-batch by micro-batch. So the sum over several steps does not depend on the number of micro-batches of each.
  void collect_into(StepMetrics& metrics);
  /// Waits until all posted messages are complete. Called before this object is destroyed.
  void finish() { channel_.finish(); }

 private:
  std::int64_t num_objectives_;
  StepChannel channel_;
};

}  // namespace convoy
