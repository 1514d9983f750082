/// Executes a stage's instruction list in each step. The same list is simulated, drawn and tested.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "convoy/comm/process_grid.h"
#include "convoy/comm/transport.h"
#include "convoy/data/batch_source.h"
#include "convoy/schedule/bound_program.h"

#include "step/micro_batch_record.h"
#include "step/rank_runtime.h"
#include "step/stage.h"
#include "step/step_audit.h"
#include "step/step_loss.h"
#include "update/gradient_tree.h"
#include "update/loss_scale.h"
#include "update/sharded_update.h"
#include "watch/status_board.h"

namespace convoy {

/// Where a rank has spent its time since its executor was made, in seconds.
struct ExecutorTimes {
  double load = 0;  ///< loading samples, including waits for them
  /// Waits for messages with the neighbouring stages, which carry activations and their gradients: bubble and
  /// communication.
  double wait_model = 0;
  double wait_data = 0;     ///< waits for other replicas: summed gradients, updated parameters, agreement of all ranks
  double wait_samples = 0;  ///< the part of `load` in which no sample was ready
  /// The part of `wait_model` in which a buffer could not be reused because its last send was not complete.
  double wait_sends = 0;
};

/// The result of a training step, the same on all ranks.
enum class StepOutcome {
  kApplied,   ///< the weights were updated
  kOverflow,  ///< not applied: a gradient is too large for fp16 at this loss scale, which is then halved
  kBad,       ///< not applied: the loss or a gradient is infinite or NaN, or the loss is above its limit
  kWrong,     ///< not applied: the memory or the arithmetic of a rank is wrong (StepAudit)
};

/// The objects that a training step needs in addition to the stage. Empty in evaluation. The executor does not own
/// them.
struct TrainingParts {
  GradientTree* tree = nullptr;
  ShardedUpdate* update = nullptr;  ///< null if the list has no update (make_audit())
  LossScale* loss_scale = nullptr;
  MicroBatchRecord* record = nullptr;  ///< takes the checksums of one micro-batch per step; null: none are taken
  StepAudit* audit = nullptr;          ///< checks some steps; null: no step is checked
  std::int64_t first_micro_batch = 0;  ///< index of this replica's first micro-batch in the step
};

class StepRecorder;

/// Runs the instruction list of this rank, once per step.
class StepExecutor {
 public:
  /// Creates the messages of the program. Called on all ranks of the grid before the runtime's first step. What the
  /// arguments refer to must outlive the executor; the runtime's stage must have the chunks of the program. `loss` is
  /// null except on the last stage.
  StepExecutor(RankRuntime& runtime, BoundProgram program, StepLoss* loss, const TrainingParts& training);
  StepExecutor(const StepExecutor&) = delete;
  StepExecutor& operator=(const StepExecutor&) = delete;

  /// Adds a recorder, which records the times of all instructions from the next run() on. It must have room for all
  /// steps until stop_recording(), and live until then.
  void record_in(StepRecorder& recorder) { recorders_.push_back(&recorder); }
  /// Removes a recorder, if it was added.
  void stop_recording(const StepRecorder& recorder) { std::erase(recorders_, &recorder); }
  /// Sets TrainingParts::first_micro_batch from the next run() on: cells draw random numbers by it.
  void set_first_micro_batch(std::int64_t number) { training_.first_micro_batch = number; }
  /// Executes the list once, and returns when the device is idle. In training, cells draw random numbers for step
  /// `step`, counted from 0. Throws what source.load() throws, and Error if it waits too long for other ranks after a
  /// SIGTERM (mpi::wait_until()).
  void run(BatchSource& source, std::int64_t step = 0);
  /// Waits until all sends to neighbouring stages are complete. Called before another executor uses the stage, and
  /// before this object is destroyed.
  void finish();

  /// On the last stage: the sums of the last run(), for each objective of each of this replica's micro-batches, in
  /// order. Empty on other stages.
  std::span<const ops::LossSums> sums() const {
    return loss_ == nullptr ? std::span<const ops::LossSums>() : loss_->sums();
  }
  /// Makes each run() from now on copy its logits to host memory.
  void keep_logits();
  /// On the last stage, after keep_logits(): the logits of the last run(), (number of micro-batches * N, classes).
  /// Empty on other stages.
  std::span<const float> logits() const { return logits_.as<const float>(); }
  ExecutorTimes times() const;
  /// The outcome of the last run() in training.
  StepOutcome outcome() const { return outcome_; }

 private:
  /// The messages between a chunk and the virtual stages before and after it. Empty if there is no such stage.
  struct ChunkMessages {
    Messages activation_sends, activation_receives;  ///< by frame of the chunk
    Messages gradient_sends, gradient_receives;      ///< by gradient buffer of the chunk
  };

  static FrameSlot slot_of(const Action& action) { return {.chunk = action.instruction.chunk, .frame = action.frame}; }
  const ChunkPlan& chunk_of(const Action& action) const {
    return runtime_.stage().plan().chunks[action.instruction.chunk];
  }
  bool is_training() const { return training_.tree != nullptr; }
  bool is_recorded(const Action& action) const {
    return training_.record != nullptr && training_.record->is_of(action.instruction.micro_batch);
  }
  void record(const Action& action, RecordItem::Kind kind, const void* data, std::int64_t size_bytes) const {
    if (is_recorded(action)) training_.record->add(kind, action.instruction.chunk, data, size_bytes);
  }
  void record_loss(const Action& action) const;
  void record_weight_gradients(const Action& action) const;
  void* dy_of(const Action& action) const;
  std::int64_t dy_bytes_of(const Action& action) const;
  void create_messages();
  void create_previous_messages(std::int64_t chunk, ChunkMessages& messages);
  void create_next_messages(std::int64_t chunk, ChunkMessages& messages);
  void plan_recordings();
  ChunkMessages& messages_of(const Action& action) { return messages_[action.instruction.chunk]; }
  Message& receive_of(const EarlyReceive& receive) const;
  void execute(const Action& action, Recording* recording, BatchSource& source);
  void set_draw_keys(std::int64_t step);
  void note_ready();
  void load(const Action& action, BatchSource& source);
  void compute_loss(const Action& action);
  void copy_logits(const Action& action);
  void issue(Recording& recording, const std::function<void()>& work) const;
  void forward(const Action& action, Recording& recording);
  void backward(const Action& action, Recording& recording);
  void backward_weight(const Action& action, Recording& recording);
  std::int64_t bucket_of(const Instruction& instruction) const;
  Bucket piece_of(const Instruction& instruction) const;
  bool checks_numbers() const { return runtime_.plan().spec().checks_numbers; }
  bool checks_gradients() const {
    return checks_numbers() || training_.audit != nullptr || training_.loss_scale->is_dynamic();
  }
  bool is_applied() const { return outcome_ == StepOutcome::kApplied; }
  void agree_on_update();
  bool has_bad_loss() const;
  StepOutcome judge_step();
  std::int64_t max_of_all_ranks(std::int64_t mine);
  void wait_for(Message& message);
  void wait_until_sent(Message& message);
  template <typename Work>
  void stand_by(Wait wait, Work&& work);
  void wait_for_device();
  void let_messages_leave();

  RankRuntime& runtime_;
  BoundProgram program_;
  StepLoss* loss_;  ///< null except on the last stage
  TrainingParts training_;
  ProgressHook on_progress_;

  std::vector<ChunkMessages> messages_;
  std::vector<std::unique_ptr<Recording>> recordings_;
  std::vector<Recording*> recording_of_;   ///< by action; null if its device work is not recorded
  HostBuffer logits_;                      ///< floats, by micro-batch; empty if logits are not kept
  std::unique_ptr<CopyLane> logits_lane_;  ///< null if logits are not kept
  HostBuffer draw_keys_;                   ///< ops::DrawKey by micro-batch; empty if no cell draws random numbers
  HostBuffer found_;                       ///< std::int32_t: 1 if a gradient is not a finite number
  StepOutcome outcome_ = StepOutcome::kApplied;
  ExecutorTimes times_;
  std::vector<StepRecorder*> recorders_;
};

}  // namespace convoy
