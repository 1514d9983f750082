/// Collects the sums of the last stages on rank 0.
#pragma once

#include <cstdint>
#include <span>

#include "convoy/ops/softmax_cross_entropy.h"

#include "step/rank_runtime.h"
#include "step/step_channel.h"

namespace convoy {

/// Of one step, over all replicas: the micro-batches' sums, added in their order.
struct StepMetrics {
  double loss_sum = 0;
  std::int64_t num_correct = 0;
  std::int64_t num_samples = 0;

  double mean_loss() const { return loss_sum / static_cast<double>(num_samples); }
  double top1() const { return static_cast<double>(num_correct) / static_cast<double>(num_samples); }
  StepMetrics& operator+=(const StepMetrics& other);
};

/// All ranks post every step; rank 0 collects a step's metrics one step later, as StepChannel says.
class MetricsChannel {
 public:
  MetricsChannel(const RankRuntime& runtime, int tag)
      : runtime_(runtime),
        channel_(runtime, {.item_bytes = sizeof(ops::LossSums), .tag = tag, .stage = runtime.grid().num_stages() - 1}) {
  }

  /// Starts the transfer of the latest step's sums. At most one posted step may be uncollected.
  void post() { channel_.post(std::as_bytes(runtime_.sums())); }
  /// Rank 0: the oldest posted step; waits until it is there.
  StepMetrics collect();
  /// Waits until what was posted has left; before the end.
  void finish() { channel_.finish(); }

 private:
  const RankRuntime& runtime_;
  StepChannel channel_;
};

}  // namespace convoy
