/// Executes a stage's instruction list in each step. The same list is simulated, drawn and tested.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "convoy/schedule/bound_program.h"

#include "step/rank_runtime.h"
#include "step/step_judge.h"
#include "step/step_loss.h"
#include "step/step_messages.h"
#include "step/step_observer.h"
#include "update/gradient_tree.h"
#include "update/loss_scale.h"
#include "update/sharded_update.h"

namespace convoy {

/// Time in seconds that a rank has waited, by cause.
struct RankWaits {
  double neighbours = 0;  ///< for activations and gradients of neighbouring stages
  double sends = 0;       ///< for sends to neighbouring stages to complete, so that their buffers can be reused
  double replicas = 0;    ///< for messages of other replicas, and for agreements of all ranks
  double samples = 0;     ///< for samples of its own loader

  double total() const { return neighbours + sends + replicas + samples; }
};

/// The objects that a step needs in addition to the stage. The executor does not own them.
struct ExecutorParts {
  StepLoss* loss = nullptr;  ///< null except on the last stage
  // The members below are null in an evaluation.
  GradientTree* tree = nullptr;
  LossScale* loss_scale = nullptr;
  ShardedUpdate* update = nullptr;     ///< null if the list has no update (make_audit())
  StepJudge* judge = nullptr;          ///< null without an update
  std::int64_t first_micro_batch = 0;  ///< index of this replica's first micro-batch in the step
};

/// Runs the instruction list of this rank, once per step.
class StepExecutor {
 public:
  /// Creates the messages of the program. Called on all ranks of the grid before the runtime's first step. What the
  /// arguments refer to must outlive the executor; the runtime's stage must have the chunks of the program.
  StepExecutor(RankRuntime& runtime, BoundProgram program, const ExecutorParts& parts);
  StepExecutor(const StepExecutor&) = delete;
  StepExecutor& operator=(const StepExecutor&) = delete;

  /// Tells the observer of all instructions from the next run() on, until stop_telling(). It must live until then.
  void tell(InstructionObserver& observer) { observers_.push_back(&observer); }
  /// Removes an observer, if it was added.
  void stop_telling(const InstructionObserver& observer) { std::erase(observers_, &observer); }
  /// Sets ExecutorParts::first_micro_batch from the next run() on: cells draw random numbers by it.
  void set_first_micro_batch(std::int64_t number) { parts_.first_micro_batch = number; }
  /// Executes the list once, and returns when the device is idle. In training, cells draw random numbers for step
  /// `step`, counted from 0. Throws what source.load() throws, and Error if it waits too long for other ranks after a
  /// SIGTERM (mpi::wait_until()).
  void run(BatchSource& source, std::int64_t step);
  /// Waits until all sends to neighbouring stages are complete. Called before another executor uses the stage, and
  /// before this object is destroyed.
  void finish();

  /// The waits of all runs so far.
  RankWaits waits() const;
  /// The outcome of the last run() in training.
  StepOutcome outcome() const { return outcome_; }

 private:
  static FrameId frame_of(const Action& action) { return {.chunk = action.instruction.chunk, .number = action.frame}; }
  const ChunkPlan& chunk_of(const Action& action) const { return stage_.plan().chunks[action.instruction.chunk]; }
  bool is_training() const { return parts_.tree != nullptr; }
  bool is_applied() const { return outcome_ == StepOutcome::kApplied; }
  void plan_repeated_work();
  void set_draw_keys(std::int64_t step);
  void execute(const Action& action, RepeatedWork* repeated, BatchSource& source);
  void load(const Action& action, BatchSource& source);
  void compute_loss(const Action& action);
  void issue(RepeatedWork& repeated, const std::function<void()>& work) const;
  void forward(const Action& action, RepeatedWork& repeated);
  void backward(const Action& action, RepeatedWork& repeated);
  void backward_weight(const Action& action, RepeatedWork& repeated);
  void fold(std::int64_t bucket);
  void gather(const Action& action, std::int64_t bucket);
  void agree_on_update();
  std::int64_t max_of_all_ranks(std::int64_t mine);
  void note_ready();
  void wait_for(Message& message, double& seconds);
  template <typename Work>
  void stand_by(Wait wait, Work&& work);
  void wait_for_device();
  void let_messages_leave();

  RankRuntime& runtime_;
  Stage& stage_;
  Transport& transport_;
  StatusBoard& board_;
  BoundProgram program_;
  ExecutorParts parts_;
  StepMessages messages_;
  ProgressHook on_progress_;
  std::vector<std::unique_ptr<RepeatedWork>> repeated_work_;
  std::vector<RepeatedWork*> repeated_work_of_;  ///< by action; null if its device work is not repeated
  HostBuffer draw_keys_;                         ///< ops::DrawKey by micro-batch; empty if no cell draws random numbers
  StepOutcome outcome_ = StepOutcome::kApplied;
  RankWaits waits_;
  std::vector<InstructionObserver*> observers_;
};

}  // namespace convoy
