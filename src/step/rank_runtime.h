/// What a rank needs to run planned steps: its stage of the network, its executors, its messages and, in a training,
/// the update. Trainer, evaluations, benchmarks and tests use it.
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

/// Runs this rank's part of the steps of a plan. If the plan's network does not train, it only evaluates.
class RankRuntime {
 public:
  /// All ranks of the grid call it. Throws RequestError if the network, the batch or the memory does not fit the grid
  /// (as StepPlan). `board` receives what this rank does. `grid`, `backend` and `board` must outlive this object.
  RankRuntime(const RuntimeSpec& spec, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board);

  ops::Backend& operations() const { return backend_; }
  const StepPlan& plan() const { return plan_; }
  const ProcessGrid& grid() const { return grid_; }
  /// The micro-batches of each step that this replica computes.
  MicroBatchRange micro_batches() const { return plan_.micro_batches_of(grid_.replica()); }

  /// Returns the part of a loader's specification that training and evaluation share: this rank's micro-batches, and
  /// the features that its cells and, on the last stage, the loss read. The caller adds the steps.
  LoaderSpec loader_spec(const Parameters& params, SampleView view) const;

  // The members from here to loss_scale() throw std::logic_error if the network does not train.

  /// Runs one training step on samples of `source`. All ranks of the grid call it.
  StepOutcome train_step(BatchSource& source, double learning_rate);
  /// Number of instructions of this rank in a training step.
  std::int64_t num_instructions() const { return training().executor->num_instructions(); }
  /// This rank's list of instructions of a training step.
  const StageProgram& training_program() const {
    training();
    return plan_.training_schedule(grid_.replica())[static_cast<std::size_t>(grid_.stage())];
  }
  /// Records the times of training steps from the next one on, until stop_recording(). See StepExecutor::record_in().
  void record_in(StepRecorder& recorder) { training().executor->record_in(recorder); }
  void stop_recording(const StepRecorder& recorder) { training().executor->stop_recording(recorder); }
  /// The checks of training steps; null if RuntimeSpec::audit_every is 0.
  StepAudit* audit() const { return training().audit.get(); }
  /// Computes the forward and the backward of one micro-batch of a step and returns its checksums
  /// (MicroBatchRecord::checksums()), which are valid until the next call. `number` is the index of the micro-batch in
  /// the step, over all replicas; it may belong to another replica. `source` gives it as its only micro-batch. Cells
  /// draw random numbers for training step `step`, counted from 0. Nothing is exchanged between replicas, and no weight
  /// changes. All ranks of this replica call it, between steps. Needs RuntimeSpec::audit_every > 0.
  std::span<const std::uint64_t> repeat_micro_batch(BatchSource& source, std::int64_t number, std::int64_t step);
  /// Swaps the weights with their moving average; a second call swaps them back. All ranks of the grid call it, between
  /// steps.
  void swap_ema();
  Optimizer& optimizer() const { return *training().optimizer; }
  /// The loss of the latest training step on the last stage; null on other stages.
  const StepLoss* training_loss() const { return training().loss.get(); }
  ShardedUpdate& update() const { return *training().update; }
  /// Where this rank has spent its time in training steps.
  ExecutorTimes times() const { return training().executor->times(); }
  LossScale& loss_scale() const { return training().loss_scale; }

  /// Runs a forward pass with running statistics, and the loss without label smoothing. All ranks of the grid call it.
  void evaluate_step(BatchSource& source);
  /// Sets a hook that is called after each instruction of training and evaluation steps. It must neither wait nor
  /// allocate memory.
  void set_beside(const ProgressHook& beside);
  /// Whether a moving average of the weights is kept.
  bool has_ema() const { return training_ != nullptr && plan_.spec().ema_decay > 0; }
  /// Whether the caller must write parameters (of a checkpoint, for example) to this rank's stage. If not, the stage
  /// reads the memory of another rank, and must not be written.
  bool writes_parameters() const { return !weights_ || weights_->is_writer(); }
  /// Called by all ranks of the grid after the ranks with writes_parameters() have written their stage's parameters:
  /// loads them into all cells, and begins a moving average with them. Only one call is allowed if the network does not
  /// train.
  void take_new_parameters();
  /// The weights that replicas on this node share; null if the network trains.
  const SharedWeights* shared_weights() const { return weights_ ? &*weights_ : nullptr; }
  /// On the last stage: the sums of the latest step for each objective of each of this replica's micro-batches, in
  /// order. Empty on other stages.
  std::span<const ops::LossSums> sums() const { return active_->sums(); }
  /// Makes evaluation steps from now on copy their logits to host memory.
  void keep_logits() { evaluation_->keep_logits(); }
  /// On the last stage, after keep_logits(): the logits of the latest evaluation step, (this replica's samples per
  /// step, classes). Empty on other stages.
  std::span<const float> logits() const { return evaluation_->logits(); }
  /// Waits until the messages of the last step are complete. Called before parameters are read or written from outside,
  /// and before this object is destroyed: its destructor does not wait for other ranks.
  void finish();

  Device& device() const { return backend_.device(); }
  Stage& stage() const { return *stage_; }
  /// Number of updates of the weights: training steps without those that were skipped.
  std::int64_t num_updates() const { return num_updates_; }
  void set_num_updates(std::int64_t num) { num_updates_ = num; }
  /// Number of training steps that were run, skipped updates included. Cells draw random numbers by the step's number.
  std::int64_t num_steps() const { return num_steps_; }
  void set_num_steps(std::int64_t num) { num_steps_ = num; }
  /// The counters of batch norms (num_batches_tracked) by name, as in Checkpoint::counters: the values of
  /// set_batch_counters() (0 for missing names), plus the number of training steps since, unless the cell is frozen.
  std::map<std::string, std::int64_t> batch_counters() const;
  void set_batch_counters(std::map<std::string, std::int64_t> counters);
  StatusBoard& board() const { return board_; }
  /// How messages between ranks travel: "MPI", "NCCL".
  std::string transport() const { return transport_->description(); }

 private:
  /// The objects that repeat_micro_batch() uses.
  struct Repeat {
    GradientTree tree;
    MicroBatchRecord record;
    std::unique_ptr<StepLoss> loss;
    std::unique_ptr<StepExecutor> executor;
  };
  /// The objects that a training needs in addition to the stage.
  struct Training {
    LossScale loss_scale;
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<GradientTree> tree;
    std::unique_ptr<ShardedUpdate> update;
    std::unique_ptr<StepLoss> loss;    ///< null except on the last stage
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
  std::optional<SharedWeights> weights_;  ///< empty if the network trains
  std::unique_ptr<Stage> stage_;
  std::unique_ptr<Training> training_;         ///< null if the network does not train
  std::unique_ptr<StepLoss> evaluation_loss_;  ///< null except on the last stage
  std::unique_ptr<StepExecutor> evaluation_;
  std::int64_t num_updates_ = 0, num_steps_ = 0;
  std::map<std::string, std::int64_t> first_counters_;
  std::int64_t steps_counted_ = 0;  ///< number of training steps since first_counters_ was set
  StepExecutor* active_ = nullptr;  ///< the executor whose messages may be in flight
};

}  // namespace convoy
