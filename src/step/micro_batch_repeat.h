/// Computes one micro-batch of a training step a second time, for an audit.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "step/micro_batch_record.h"
#include "step/rank_runtime.h"
#include "update/gradient_tree.h"
#include "update/loss_scale.h"

namespace convoy {

class StepExecutor;

/// Runs the forward and the backward of one micro-batch. Nothing is exchanged between replicas, and no weight changes.
class MicroBatchRepeat {
 public:
  /// All ranks of the grid call it, before the runtime's first step. The arguments must outlive this object.
  MicroBatchRepeat(RankRuntime& runtime, LossScale& loss_scale);
  ~MicroBatchRepeat();

  /// Computes a micro-batch and returns its checksums (MicroBatchRecord::checksums()), which are valid until the next
  /// call. `number` is the index of the micro-batch in the step, over all replicas; it may belong to another replica.
  /// `source` gives it as its only micro-batch. Cells draw random numbers for training step `step`, counted from 0. All
  /// ranks of this replica call it, between steps.
  std::span<const std::uint64_t> run(BatchSource& source, std::int64_t number, std::int64_t step);

 private:
  RankRuntime& runtime_;
  GradientTree tree_;
  MicroBatchRecord record_;
  std::unique_ptr<StepLoss> loss_;  ///< null except on the last stage
  std::unique_ptr<StepExecutor> executor_;
};

}  // namespace convoy
