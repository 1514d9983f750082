/// Brings what the last stages counted to rank 0, without anyone waiting for it.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/comm/process_grid.h"
#include "convoy/ops/softmax_cross_entropy.h"

#include "train/engine.h"

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

/// All ranks post every step; rank 0 collects a step's metrics one step later, when they have long arrived.
class MetricsChannel {
 public:
  MetricsChannel(const Engine& engine, int tag);
  MetricsChannel(const MetricsChannel&) = delete;
  MetricsChannel& operator=(const MetricsChannel&) = delete;

  /// Starts the transfer of the latest step's sums. At most one posted step may be uncollected.
  void post();
  /// Rank 0: the oldest posted step; waits until it is there.
  StepMetrics collect();
  /// Waits until what was posted has left; before the end.
  void finish();

 private:
  static constexpr std::int64_t kSlots = 2;
  struct Slot {
    std::vector<ops::LossSums> sent;
    std::vector<ops::LossSums> received;  ///< all micro-batches of the step, in order
    mpi::Request send;
    std::vector<mpi::Request> receives;
  };

  const Engine& engine_;
  int tag_;
  Slot slots_[kSlots];
  std::int64_t posted_ = 0, collected_ = 0;
};

}  // namespace convoy
