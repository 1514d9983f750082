/// A rank's part of the planned step, ready to run by trainer, evaluation, benchmarks and tests. If the plan's network
/// does not train, it only evaluates.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/comm/process_grid.h"
#include "convoy/ops/backend.h"

#include "plan/step_plan.h"
#include "step/shared_weights.h"
#include "step/step_executor.h"
#include "watch/status_board.h"

namespace convoy {

struct LoaderSpec;
struct Parameters;
enum class SampleView;
struct WantedFeature;

class RankRuntime {
 public:
  /// All ranks of the grid call it. Throws RequestError as StepPlan does. `board` is told what this rank does.
  RankRuntime(const RuntimeSpec& spec, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board);

  ops::Backend& operations() const { return backend_; }
  const StepPlan& plan() const { return plan_; }
  const ProcessGrid& grid() const { return grid_; }
  /// This replica's share of every step.
  MicroBatchRange micro_batches() const { return plan_.micro_batches_of(grid_.replica()); }

  /// The part of a loader's specification that training and evaluation share: this rank's micro-batches, and the
  /// features that its cells and, on the last stage, the loss read. The caller adds the steps.
  LoaderSpec loader_spec(const Parameters& params, SampleView view) const;

  // The members from here to loss_scale() need a network that trains: without one they throw std::logic_error.
  StepOutcome train_step(BatchSource& source, double learning_rate);
  /// Number of instructions of this rank in a training step.
  std::int64_t num_instructions() const { return training().executor->num_instructions(); }
  /// This rank's list of instructions of a training step.
  const StageProgram& training_program() const {
    training();
    return plan_.training_schedule(grid_.replica())[static_cast<std::size_t>(grid_.stage())];
  }
  /// Records training steps from the next one on, as StepExecutor::record_in() does.
  void record_in(StepRecorder& recorder) { training().executor->record_in(recorder); }
  void stop_recording(const StepRecorder& recorder) { training().executor->stop_recording(recorder); }
  /// Checks of training steps; null if RuntimeSpec::audit_every is 0.
  StepAudit* audit() const { return training().audit.get(); }
  /// Only if RuntimeSpec::audit_every is set: computes micro-batch `number` of a step, forward and backward, of
  /// whichever replica it is, and returns its checksums, which are valid until the next call. `source` has it as its
  /// only micro-batch; cells draw for training step `step`, counted from 0. Nothing is exchanged between replicas or
  /// updated. All ranks of this replica call it, between steps.
  std::span<const std::uint64_t> repeat_micro_batch(BatchSource& source, std::int64_t number, std::int64_t step);
  /// Swaps the weights with their moving average; a second call swaps them back. All ranks call it, between steps.
  void swap_ema();
  Optimizer& optimizer() const { return *training().optimizer; }
  /// The loss of the latest training step; null except on the last stage.
  const StepLoss* training_loss() const { return training().loss.get(); }
  ShardedUpdate& update() const { return *training().update; }
  ExecutorTimes times() const { return training().executor->times(); }
  LossScale& loss_scale() const { return training().loss_scale; }

  /// Runs a forward pass with running statistics, and the loss without label smoothing.
  void evaluate_step(BatchSource& source);
  /// Sets a hook that is called after each instruction of every step, of evaluations too. It must neither wait nor
  /// allocate.
  void set_beside(const ProgressHook& beside);
  /// Whether a moving average of the weights is kept.
  bool has_ema() const { return training_ != nullptr && plan_.spec().ema_decay > 0; }
  /// Whether parameters from outside must be written to this rank's stage. If not, it reads those of another rank, and
  /// its own arenas cannot be written.
  bool writes_parameters() const { return !weights_ || weights_->is_writer(); }
  /// Called after the stage's parameters were written from outside, on ranks with writes_parameters(): loads them, and
  /// begins a moving average with them. All ranks call it; only once if the network does not train.
  void take_new_parameters();
  /// The weights that replicas share; null if the network trains.
  const SharedWeights* shared_weights() const { return weights_ ? &*weights_ : nullptr; }
  /// Last stage: the sums of the latest step for each objective of each of this replica's micro-batches, in order.
  /// Empty elsewhere.
  std::span<const ops::LossSums> sums() const { return active_->sums(); }
  /// Makes evaluation steps keep their logits from now on.
  void keep_logits() { evaluation_->keep_logits(); }
  /// Last stage: the logits of the latest evaluation step, (this replica's samples per step, classes), after
  /// keep_logits(). Empty elsewhere.
  std::span<const float> logits() const { return evaluation_->logits(); }
  /// Waits until the last step's messages have left. Called before parameters are read or written from outside, and
  /// before the end (a destructor does not wait for other ranks).
  void finish();

  Device& device() const { return backend_.device(); }
  Stage& stage() const { return *stage_; }
  /// Number of updates that were made: training steps without those that were skipped.
  std::int64_t num_updates() const { return num_updates_; }
  void set_num_updates(std::int64_t num) { num_updates_ = num; }
  /// Number of training steps that were run; cells draw random numbers by the step's number.
  std::int64_t num_steps() const { return num_steps_; }
  void set_num_steps(std::int64_t num) { num_steps_ = num; }
  /// The counters of batch norms, as in Checkpoint::counters: what they were set to (0 if they were not), plus the
  /// training steps since, unless the cell is frozen.
  std::map<std::string, std::int64_t> batch_counters() const;
  void set_batch_counters(std::map<std::string, std::int64_t> counters);
  StatusBoard& board() const { return board_; }
  /// How messages travel: "MPI".
  std::string transport() const { return transport_->description(); }

 private:
  /// What repeat_micro_batch() works with.
  struct Repeat {
    GradientTree tree;
    MicroBatchRecord record;
    std::unique_ptr<StepLoss> loss;
    std::unique_ptr<StepExecutor> executor;
  };
  /// What training needs in addition to the stage.
  struct Training {
    LossScale loss_scale;
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<GradientTree> tree;
    std::unique_ptr<ShardedUpdate> update;
    std::unique_ptr<StepLoss> loss;    ///< last stage
    std::unique_ptr<StepAudit> audit;  ///< null if steps are not audited
    std::unique_ptr<Repeat> repeat;    ///< null if steps are not audited
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
  std::optional<SharedWeights> weights_;  ///< only if the network does not train
  std::unique_ptr<Stage> stage_;
  std::unique_ptr<Training> training_;         ///< null if the network does not train
  std::unique_ptr<StepLoss> evaluation_loss_;  ///< last stage
  std::unique_ptr<StepExecutor> evaluation_;
  std::int64_t num_updates_ = 0, num_steps_ = 0;
  std::map<std::string, std::int64_t> first_counters_;
  std::int64_t steps_counted_ = 0;  ///< training steps since first_counters_ was set
  StepExecutor* active_ = nullptr;  ///< the executor whose messages may be in flight
};

}  // namespace convoy
