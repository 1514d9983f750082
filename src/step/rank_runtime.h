/// A rank's part of the planned step, ready to run: trainer, evaluation, benchmarks and tests run it. Where the plan's
/// network does not train, it evaluates only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/comm/process_grid.h"
#include "convoy/data/loader.h"
#include "convoy/data/make_sample_path.h"
#include "convoy/ops/backend.h"

#include "plan/step_plan.h"
#include "step/shared_weights.h"
#include "step/step_executor.h"
#include "watch/status_board.h"

namespace convoy {

class RankRuntime {
 public:
  /// All ranks of the grid. Throws RequestError as StepPlan does. `board` is told what this rank does.
  RankRuntime(const RuntimeSpec& spec, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board);

  ops::Backend& operations() const { return backend_; }
  const StepPlan& plan() const { return plan_; }
  const ProcessGrid& grid() const { return grid_; }
  /// This replica's share of every step.
  MicroBatchRange micro_batches() const { return plan_.micro_batches_of(grid_.replica()); }

  /// What training's and evaluation's loaders have in common: this rank's micro-batches, of which it reads what its
  /// cells and, on the last stage, the loss read. Steps are left to the caller.
  LoaderSpec loader_spec(const Parameters& params, SampleView view) const;

  // The members from here to loss_scale() are of a network that trains. Without one they throw std::logic_error.
  StepOutcome train_step(BatchSource& source, double learning_rate);
  /// Of this rank, in a training step.
  std::int64_t num_instructions() const { return training().executor->num_instructions(); }
  /// Of this rank: its list of a training step.
  const StageProgram& training_program() const {
    training();
    return plan_.training_schedule(grid_.replica())[static_cast<std::size_t>(grid_.stage())];
  }
  /// As StepExecutor's, of training steps.
  void record_in(StepRecorder& recorder) { training().executor->record_in(recorder); }
  void stop_recording(const StepRecorder& recorder) { training().executor->stop_recording(recorder); }
  /// Where RuntimeSpec::audit_every: checks of training steps. Else null.
  StepAudit* audit() const { return training().audit.get(); }
  /// Likewise: computes micro-batch `number` of a step, forward and backward, whichever replica has it there. `source`
  /// has it as its only one; cells draw for training step `step`, counted from 0. Nothing is exchanged between replicas
  /// or updated. All ranks of this replica, between steps; the checksums are valid until the next call.
  std::span<const std::uint64_t> repeat_micro_batch(BatchSource& source, std::int64_t number, std::int64_t step);
  /// Exchanges the weights with their moving average, or back. All ranks, between steps.
  void swap_ema();
  Optimizer& optimizer() const { return *training().optimizer; }
  /// Of the latest training step; null but on the last stage.
  const StepLoss* training_loss() const { return training().loss.get(); }
  ShardedUpdate& update() const { return *training().update; }
  ExecutorTimes times() const { return training().executor->times(); }
  LossScale& loss_scale() const { return training().loss_scale; }

  /// Forward with running statistics, and the loss without label smoothing.
  void evaluate_step(BatchSource& source);
  /// Called after each instruction of every step, of evaluations too; it neither waits nor allocates.
  void set_beside(const ProgressHook& beside);
  /// Whether a moving average of the weights is kept.
  bool has_ema() const { return training_ != nullptr && plan_.spec().ema_decay > 0; }
  /// Whether parameters from outside are to be written to this rank's stage; else it reads those of another rank, and
  /// its own arenas cannot be written.
  bool writes_parameters() const { return !weights_ || weights_->is_writer(); }
  /// The stage's parameters were written from outside, where this rank writes them: it loads them, and a moving average
  /// begins with them. All ranks; once only, where the network does not train.
  void take_new_parameters();
  /// Of a network that does not train.
  const SharedWeights* shared_weights() const { return weights_ ? &*weights_ : nullptr; }
  /// Last stage: what each objective of each of this replica's micro-batches of the latest step counted, in order.
  /// Elsewhere empty.
  std::span<const ops::LossSums> sums() const { return active_->sums(); }
  /// From now on evaluation steps keep their logits.
  void keep_logits() { evaluation_->keep_logits(); }
  /// Last stage: (this replica's samples per step, classes) of the latest evaluation step, where they are kept.
  /// Elsewhere empty.
  std::span<const float> logits() const { return evaluation_->logits(); }
  /// Waits until the last step's messages have left: before parameters are read or written from outside, and before
  /// the end (a destructor does not wait for other ranks).
  void finish();

  Device& device() const { return backend_.device(); }
  Stage& stage() const { return *stage_; }
  /// That were made: steps without those that were skipped.
  std::int64_t num_updates() const { return num_updates_; }
  void set_num_updates(std::int64_t num) { num_updates_ = num; }
  /// Training steps that were run, which is what cells draw random numbers for.
  std::int64_t num_steps() const { return num_steps_; }
  void set_num_steps(std::int64_t num) { num_steps_ = num; }
  /// As Checkpoint::counters: what they were set to, and the training steps since; 0 where nothing was set.
  std::map<std::string, std::int64_t> batch_counters() const;
  void set_batch_counters(std::map<std::string, std::int64_t> counters);
  StatusBoard& board() const { return board_; }
  /// How messages travel: "MPI".
  std::string transport() const { return transport_->description(); }

 private:
  /// Of repeat_micro_batch().
  struct Repeat {
    GradientTree tree;
    MicroBatchRecord record;
    std::unique_ptr<StepLoss> loss;
    std::unique_ptr<StepExecutor> executor;
  };
  /// What training has beside the stage.
  struct Training {
    LossScale loss_scale;
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<GradientTree> tree;
    std::unique_ptr<ShardedUpdate> update;
    std::unique_ptr<StepLoss> loss;    ///< last stage
    std::unique_ptr<StepAudit> audit;  ///< where steps are audited
    std::unique_ptr<Repeat> repeat;    ///< likewise
    std::unique_ptr<StepExecutor> executor;
  };

  Training& training() const;
  void make_training();
  void make_audit_parts();
  void activate(StepExecutor& executor);
  std::vector<WantedFeature> wanted_features(SampleView view) const;
  std::optional<ClipSpec> clip() const;
  std::unique_ptr<StepLoss> make_loss(const StepLossSpec& spec) const;
  std::unique_ptr<StepExecutor> make_executor(BoundProgram program, StepLoss* loss,
                                              const TrainingParts& training) const;

  StepPlan plan_;
  const ProcessGrid& grid_;
  ops::Backend& backend_;
  StatusBoard& board_;
  std::unique_ptr<Transport> transport_;
  std::optional<SharedWeights> weights_;  ///< where the network does not train
  std::unique_ptr<Stage> stage_;
  std::unique_ptr<Training> training_;         ///< null where the network does not train
  std::unique_ptr<StepLoss> evaluation_loss_;  ///< last stage
  std::unique_ptr<StepExecutor> evaluation_;
  std::int64_t num_updates_ = 0, num_steps_ = 0;
  std::map<std::string, std::int64_t> first_counters_;
  std::int64_t steps_counted_ = 0;  ///< since then
  StepExecutor* active_ = nullptr;  ///< whose messages may be under way
};

}  // namespace convoy
