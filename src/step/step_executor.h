/// Executes a stage's instruction list: the same list that is simulated, drawn and tested.
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
#include "step/stage.h"
#include "step/step_audit.h"
#include "step/step_loss.h"
#include "update/gradient_tree.h"
#include "update/loss_scale.h"
#include "update/sharded_update.h"
#include "watch/status_board.h"

namespace convoy {

/// How a rank spent its time, in seconds since the executor was made.
struct ExecutorTimes {
  double load = 0;          ///< loading samples, including the wait for them
  double wait_model = 0;    ///< waits for activations and gradients of neighbouring stages: bubble and communication
  double wait_data = 0;     ///< waits for gradient slices and parameters of other replicas
  double wait_samples = 0;  ///< part of load: no sample was ready
  double wait_sends = 0;    ///< part of wait_model: what was sent to neighbours had yet to leave its buffer
};

/// The result of a training step, the same on all ranks.
enum class StepOutcome {
  kApplied,
  kOverflow,  ///< not applied: a gradient is too large for fp16 at this loss scale, which is halved
  kBad,       ///< not applied: the loss or a gradient is not a finite number, or the loss is above its limit
  kWrong,     ///< not applied: a rank's memory or arithmetic is not to be trusted (StepAudit)
};

/// What a training step needs in addition to the stage; empty in evaluation.
struct TrainingParts {
  GradientTree* tree = nullptr;
  ShardedUpdate* update = nullptr;  ///< null if the list updates nothing (make_audit)
  LossScale* loss_scale = nullptr;
  MicroBatchRecord* record = nullptr;  ///< takes checksums of one micro-batch; null: none are taken
  StepAudit* audit = nullptr;          ///< checks some steps; null: no step is checked
  bool checks_numbers = false;         ///< whether a step can be bad
  double loss_limit = 0;               ///< largest loss of a micro-batch; 0: no limit
  std::uint64_t seed = 0;              ///< seed of what cells draw
  std::int64_t first_micro_batch = 0;  ///< this replica's first, among all of a step
};

/// What the executor works with; all must outlive it. `loss` is null except on the last stage. The stage has the
/// program's chunks.
struct ExecutorParts {
  Stage& stage;
  const ProcessGrid& grid;
  Device& device;
  Transport& transport;
  StatusBoard& board;  ///< is told each instruction, and what it waits for
  StepLoss* loss = nullptr;
  TrainingParts training;
};

class StepRecorder;

class StepExecutor {
 public:
  /// Creates the messages of the program. Called before the transport connects.
  StepExecutor(const ExecutorParts& parts, BoundProgram program);
  StepExecutor(const StepExecutor&) = delete;
  StepExecutor& operator=(const StepExecutor&) = delete;

  std::int64_t num_instructions() const { return std::ssize(program_.actions); }
  /// Adds a recorder, which notes from the next pass on when each instruction ran. It needs room for all passes until
  /// stop_recording().
  void record_in(StepRecorder& recorder) { recorders_.push_back(&recorder); }
  /// Removes a recorder, if it was added.
  void stop_recording(const StepRecorder& recorder) { std::erase(recorders_, &recorder); }
  /// Sets the number in the step of the list's first micro-batch, from the next pass on: cells draw for it.
  void set_first_micro_batch(std::int64_t number) { parts_.training.first_micro_batch = number; }
  /// Sets a hook that is called after each instruction, for messages of other objects. It must neither wait nor
  /// allocate.
  void set_beside(ProgressHook beside) { beside_ = std::move(beside); }
  /// Executes the list once, and returns when the device is idle; cells in training draw random numbers for `step`.
  /// Throws what source.load() throws, and Error as wait_until() does.
  void run(BatchSource& source, std::int64_t step = 0);
  /// Waits until the last messages have left. Called before another executor uses the stage, and before the end.
  void finish();

  /// Last stage: the sums of each objective of each micro-batch of the last pass, in order. Empty elsewhere.
  std::span<const ops::LossSums> sums() const {
    return parts_.loss == nullptr ? std::span<const ops::LossSums>() : parts_.loss->sums();
  }
  /// Makes the passes keep their logits from now on.
  void keep_logits();
  /// Last stage: the logits of the last pass, (num micro-batches * N, classes), after keep_logits(). Empty elsewhere.
  std::span<const float> logits() const { return logits_.as<const float>(); }
  ExecutorTimes times() const;
  /// The result of the last pass in training.
  StepOutcome outcome() const { return outcome_; }

 private:
  /// The messages of a chunk with the virtual stages before and after it; empty if there is no such stage.
  struct ChunkMessages {
    Messages activation_sends, activation_receives;  ///< by frame
    Messages gradient_sends, gradient_receives;      ///< by buffer
  };

  static FrameSlot slot_of(const Action& action) { return {.chunk = action.instruction.chunk, .frame = action.frame}; }
  const ChunkPlan& chunk_of(const Action& action) const { return parts_.stage.plan().chunks[action.instruction.chunk]; }
  bool is_training() const { return parts_.training.tree != nullptr; }
  bool is_recorded(const Action& action) const {
    return parts_.training.record != nullptr && parts_.training.record->is_of(action.instruction.micro_batch);
  }
  void record(const Action& action, RecordItem::Kind kind, const void* data, std::int64_t size_bytes) const {
    if (is_recorded(action)) parts_.training.record->add(kind, action.instruction.chunk, data, size_bytes);
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
  bool checks_gradients() const {
    return parts_.training.checks_numbers || parts_.training.audit != nullptr ||
           parts_.training.loss_scale->is_dynamic();
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

  ExecutorParts parts_;
  BoundProgram program_;
  ProgressHook on_progress_;
  ProgressHook beside_;  ///< empty: none is set

  std::vector<ChunkMessages> messages_;
  std::vector<std::unique_ptr<Recording>> recordings_;
  std::vector<Recording*> recording_of_;   ///< by action; null if it has nothing to record
  HostBuffer logits_;                      ///< float by micro-batch; empty if they are not kept
  std::unique_ptr<CopyLane> logits_lane_;  ///< null if logits are not kept
  HostBuffer draw_keys_;                   ///< DrawKey by micro-batch; empty if no cell draws
  HostBuffer found_;                       ///< std::int32_t: whether a gradient is not a finite number
  StepOutcome outcome_ = StepOutcome::kApplied;
  ExecutorTimes times_;
  std::vector<StepRecorder*> recorders_;
};

}  // namespace convoy
