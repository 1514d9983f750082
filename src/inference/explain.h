/// Tells for predict.explain what each rank has computed: its node, its cells, its samples, and the shapes of what it
/// read and gave.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "step/rank_runtime.h"
#include "step/step_observer.h"

namespace convoy {

/// Notes the micro-batches whose forward this rank has computed, step by step.
class ComputedMicroBatches final : public InstructionObserver {
 public:
  /// `num_steps` is the number of steps that will be observed, each of them `passes` times: 2 with test-time
  /// augmentation. `runtime` must outlive this object.
  ComputedMicroBatches(const RankRuntime& runtime, std::int64_t num_steps, std::int64_t passes);

  void begin_step() override { ++num_passes_; }
  void end(const Action& action) override;

  /// Describes all ranks, a line for each, on rank 0: "rank 1 of 2 on node04: replica 0, cells conv1 .. fc: samples 0
  /// to 2, in micro-batches of 3: input (3, 32), output (3, 64)". Padding is no sample: there are `num_samples`. All
  /// ranks of the grid call it.
  std::string describe(std::int64_t num_samples) const;

 private:
  std::string describe_own(std::int64_t num_samples) const;

  const RankRuntime& runtime_;
  std::int64_t passes_, num_passes_ = 0;
  std::vector<std::int64_t> computed_;  ///< indices of micro-batches over all steps and replicas, in ascending order
};

}  // namespace convoy
