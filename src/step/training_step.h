/// A rank's part of training steps: the executor, the gradients and their update, the loss scale, and what decides
/// whether a step is applied.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "step/rank_runtime.h"
#include "step/step_audit.h"
#include "step/step_executor.h"

namespace convoy {

/// Runs the training steps of a plan.
class TrainingStep {
 public:
  /// All ranks of the grid call it, before the runtime's first step. `runtime` must outlive this object; its network
  /// trains. Throws std::logic_error if it does not.
  explicit TrainingStep(RankRuntime& runtime);
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  RankRuntime& runtime() const { return runtime_; }

  /// Runs one step on samples of `source`. All ranks of the grid call it.
  StepOutcome run(BatchSource& source, double learning_rate);
  /// This rank's list of instructions of a step.
  const StageProgram& program() const;
  /// The loss of the latest step on the last stage; null on other stages.
  const StepLoss* loss() const { return loss_.get(); }
  /// What this rank has waited for in steps.
  RankWaits waits() const { return executor_->waits(); }
  /// Tells the observer of all instructions from the next step on, until stop_telling(): StepExecutor::tell().
  void tell(InstructionObserver& observer) { executor_->tell(observer); }
  void stop_telling(const InstructionObserver& observer) { executor_->stop_telling(observer); }

  Optimizer& optimizer() const { return *optimizer_; }
  ShardedUpdate& update() { return update_; }
  const ShardedUpdate& update() const { return update_; }
  LossScale& loss_scale() { return loss_scale_; }
  /// The checks of steps; null if run.audit_every is 0.
  StepAudit* audit() const { return audit_.get(); }

  /// Whether a moving average of the weights is kept.
  bool has_ema() const { return runtime_.plan().spec().train.ema_decay > 0; }
  /// Swaps the weights with their moving average; a second call swaps them back. All ranks of the grid call it, between
  /// steps.
  void swap_ema();

  /// How far the training is; a caller that restores a state sets it.
  struct Counts {
    std::int64_t updates = 0;  ///< updates of the weights: steps without those that were skipped
    std::int64_t steps = 0;    ///< steps that were run, with those that were skipped; cells draw random numbers by it
  };
  const Counts& counts() const { return counts_; }
  void set_counts(const Counts& counts) { counts_ = counts; }
  /// The counters of batch norms (num_batches_tracked) by name, as in Checkpoint::counters: the values of
  /// set_batch_counters() (0 for missing names), plus the number of steps since, unless the cell is frozen.
  std::map<std::string, std::int64_t> batch_counters() const;
  void set_batch_counters(std::map<std::string, std::int64_t> counters);

 private:
  RankRuntime& runtime_;
  LossScale loss_scale_;
  std::unique_ptr<Optimizer> optimizer_;
  GradientTree tree_;
  ShardedUpdate update_;
  std::unique_ptr<StepLoss> loss_;  ///< null except on the last stage
  ExecutorParts parts_;
  std::unique_ptr<StepAudit> audit_;  ///< null if steps are not audited
  std::unique_ptr<StepJudge> judge_;
  std::unique_ptr<StepExecutor> executor_;
  Counts counts_;
  std::map<std::string, std::int64_t> first_counters_;
  std::int64_t steps_counted_ = 0;  ///< number of steps since first_counters_ was set
};

}  // namespace convoy
