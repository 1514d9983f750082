/// A rank's part of evaluation steps: a forward with running statistics, the loss and, if they are asked for, the
/// logits.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "step/rank_runtime.h"
#include "step/step_executor.h"

namespace convoy {

/// Copies the logits of this replica's micro-batches to host memory while the step computes, on the last stage.
/// Observes the executor of an evaluation step.
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

/// Runs the evaluation steps of a plan, whether its network trains or not.
class EvaluationStep {
 public:
  /// All ranks of the grid call it, before the runtime's first step. `runtime` must outlive this object.
  explicit EvaluationStep(RankRuntime& runtime);
  EvaluationStep(const EvaluationStep&) = delete;
  EvaluationStep& operator=(const EvaluationStep&) = delete;

  RankRuntime& runtime() const { return runtime_; }

  /// Runs one step, whose loss has no label smoothing. All ranks of the grid call it.
  void run(BatchSource& source) { runtime_.run(executor_, source); }
  /// The loss of the latest step on the last stage; null on other stages.
  const StepLoss* loss() const { return loss_.get(); }
  /// Tells the observer of all instructions from the next run() on. It must outlive the last run().
  void tell(InstructionObserver& observer) { executor_.tell(observer); }
  /// Makes steps from now on copy their logits to host memory.
  void keep_logits();
  /// On the last stage, after keep_logits(): the logits of the latest step, (this replica's samples per step, classes).
  /// Empty on other stages.
  std::span<const float> logits() const { return logits_ ? logits_->values() : std::span<const float>(); }

 private:
  RankRuntime& runtime_;
  std::unique_ptr<StepLoss> loss_;    ///< null except on the last stage
  std::optional<KeptLogits> logits_;  ///< empty if logits are not kept
  StepExecutor executor_;
};

}  // namespace convoy
