/// Copies the logits of an evaluation step to host memory while the step computes.
#pragma once

#include <memory>
#include <span>

#include "step/instruction_observer.h"
#include "step/rank_runtime.h"

namespace convoy {

/// The logits of this replica's micro-batches on the last stage. Observes the executor of an evaluation step.
class KeptLogits final : public InstructionObserver {
 public:
  explicit KeptLogits(const RankRuntime& runtime);

  void end(const Action& action) override;
  /// The logits of the latest step, (number of micro-batches * N, classes). Valid when the step has ended.
  std::span<const float> values() const { return values_.as<const float>(); }

 private:
  const RankRuntime& runtime_;
  std::int64_t size_bytes_;  ///< size of the logits of one micro-batch
  HostBuffer values_;        ///< by micro-batch
  std::unique_ptr<CopyLane> lane_;
};

}  // namespace convoy
