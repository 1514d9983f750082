/// Has one case per instruction. Sends start and complete by themselves; a receive was started as soon as its buffer
/// was free.
#include "step/step_executor.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "convoy/base/clock.h"
#include "convoy/ops/dropout.h"

namespace convoy {

StepExecutor::StepExecutor(RankRuntime& runtime, BoundProgram program, const ExecutorParts& parts)
    : runtime_(runtime),
      stage_(runtime.stage()),
      transport_(runtime.transport()),
      board_(runtime.board()),
      program_(std::move(program)),
      parts_(parts),
      messages_(runtime, program_, is_training()) {
  // A device that runs asynchronously to the host is given a cell's work in microseconds: there is nothing to do in
  // between, and repeated work must be the stage's work alone.
  on_progress_ = [] {};
  if (runtime.device().is_host()) on_progress_ = [this] { transport_.progress(); };
  if (is_training() && std::ranges::any_of(stage_.plan().chunks, &ChunkPlan::draws))
    draw_keys_ =
        HostBuffer(runtime.device(), program_.num_micro_batches * static_cast<std::int64_t>(sizeof(ops::DrawKey)));
  plan_repeated_work();
}

// Actions that do the same work on the same memory share a RepeatedWork.
void StepExecutor::plan_repeated_work() {
  using Memory = std::tuple<Op, std::int64_t, std::int64_t, std::int64_t, std::int64_t, const float*, std::int64_t>;
  std::map<Memory, RepeatedWork*> known;
  for (const Action& action : program_.actions) {
    const Instruction& i = action.instruction;
    RepeatedWork*& repeated = repeated_work_of_.emplace_back(nullptr);
    if (i.op != Op::kForward && !is_backward(i.op)) continue;
    const bool has_gradients = i.op == Op::kBackward || i.op == Op::kBackwardWeight;
    const float* leaf = has_gradients ? parts_.tree->leaf(i.micro_batch) : nullptr;
    RepeatedWork*& same = known[{i.op, i.chunk, action.frame, action.gradient_in, action.gradient_out, leaf, i.bucket}];
    if (same == nullptr) same = repeated_work_.emplace_back(runtime_.device().make_repeated_work()).get();
    repeated = same;
  }
}

void StepExecutor::finish() {
  messages_.for_each_send([this](Message& message) { wait_for(message, waits_.neighbours); });
}

void StepExecutor::run(BatchSource& source, std::int64_t step) {
  outcome_ = StepOutcome::kApplied;
  if (draw_keys_.size_bytes() > 0) set_draw_keys(step);
  for (InstructionObserver* observer : observers_) observer->begin_step();
  source.begin_step();
  for (std::size_t i = 0; i < program_.actions.size(); ++i) {
    const Action& action = program_.actions[i];
    board_.begin(action.instruction);
    for (const EarlyReceive& receive : program_.receives_before(action)) messages_.receive(receive).start();
    for (InstructionObserver* observer : observers_) observer->begin(action);
    execute(action, repeated_work_of_[i], source);
    transport_.progress();
    for (InstructionObserver* observer : observers_) observer->end(action);
    if (runtime_.beside()) runtime_.beside()();
  }
  wait_for_device();
  let_messages_leave();
  board_.end_step();
  if (parts_.update != nullptr && (is_applied() || outcome_ == StepOutcome::kOverflow))
    parts_.loss_scale->end_step(outcome_ == StepOutcome::kOverflow);
}

// Every pass ends with the device idle: no work of the pass before still reads its keys.
void StepExecutor::set_draw_keys(std::int64_t step) {
  for (std::int64_t m = 0; m < program_.num_micro_batches; ++m)
    draw_keys_.as<ops::DrawKey>()[m] = {.seed = runtime_.plan().spec().train.seed,
                                        .step = static_cast<std::uint64_t>(step),
                                        .micro_batch = static_cast<std::uint64_t>(parts_.first_micro_batch + m)};
}

void StepExecutor::execute(const Action& action, RepeatedWork* repeated, BatchSource& source) {
  const ArenaLayout& layout = stage_.plan().layout;
  const std::int64_t bucket = layout.runs[action.instruction.chunk].first_bucket + action.instruction.bucket;
  switch (action.instruction.op) {
    case Op::kLoad:
      load(action, source);
      break;
    case Op::kRecvActivation:
      wait_for(messages_.activation_receive(action), waits_.neighbours);
      note_ready();
      break;
    case Op::kForward:
      forward(action, *repeated);
      break;
    case Op::kSendActivation:
      messages_.activation_send(action).start();
      break;
    case Op::kLoss:
      compute_loss(action);
      break;
    case Op::kRecvGradient:
      wait_for(messages_.gradient_receive(action), waits_.neighbours);
      note_ready();
      break;
    case Op::kBackward:
    case Op::kBackwardInput:
      backward(action, *repeated);
      break;
    case Op::kBackwardWeight:
      backward_weight(action, *repeated);
      break;
    case Op::kSendGradient:
      messages_.gradient_send(action).start();
      break;
    case Op::kReduceBucket:
      parts_.tree->finish(layout.buckets[bucket].begin, layout.buckets[bucket].end);
      parts_.update->start_reduce(bucket);
      break;
    case Op::kFoldBucket:
      fold(bucket);
      break;
    case Op::kAgreeOnUpdate:
      agree_on_update();
      note_ready();
      break;
    case Op::kUpdateBucket:
      if (is_applied()) parts_.update->update(bucket);
      break;
    case Op::kGatherBucket:
      if (is_applied()) gather(action, bucket);
      break;
  }
}

/// Called when what the instruction waited for has come.
void StepExecutor::note_ready() {
  for (InstructionObserver* observer : observers_) observer->ready();
}

// Loads the features that the chunk's cells and, in the last chunk, the loss read.
void StepExecutor::load(const Action& action, BatchSource& source) {
  const double waited = source.wait_seconds();
  const std::int64_t m = action.instruction.micro_batch;
  stand_by(Wait::kSamples, [&] {
    stage_.for_each_feature(frame_of(action),
                            [&](const Feature& feature, void* to) { source.load(feature.name, m, to); });
    if (chunk_of(action).is_last) parts_.loss->load(source, m);
  });
  const double seconds = source.wait_seconds() - waited;
  waits_.samples += seconds;
  for (InstructionObserver* observer : observers_) observer->waited(seconds);
}

void StepExecutor::compute_loss(const Action& action) {
  parts_.loss->run({.micro_batch = action.instruction.micro_batch,
                    .y = stage_.output(frame_of(action)),
                    .dy = is_training() ? stage_.output_gradient(frame_of(action)) : nullptr,
                    .loss_scale = is_training() ? static_cast<float>(parts_.loss_scale->scale()) : 1.0f});
}

// Work that is replayed from a graph calls no layer: there would be nothing to observe.
void StepExecutor::issue(RepeatedWork& repeated, const std::function<void()>& work) const {
  if (stage_.is_observed()) return work();
  repeated.run(work);
}

void StepExecutor::forward(const Action& action, RepeatedWork& repeated) {
  // What the frame's last output was sent for has long arrived.
  if (!chunk_of(action).is_last) {
    wait_for(messages_.activation_send(action), waits_.sends);
    note_ready();
  }
  // Outside of the repeated work, which several micro-batches may share.
  if (is_training() && chunk_of(action).draws)
    stage_.set_draw_key(frame_of(action), &draw_keys_.as<ops::DrawKey>()[action.instruction.micro_batch]);
  issue(repeated, [this, &action] { stage_.forward(frame_of(action), is_training(), on_progress_); });
}

// Joint, or the data gradient alone.
void StepExecutor::backward(const Action& action, RepeatedWork& repeated) {
  if (action.first_piece && !chunk_of(action).is_first) {
    wait_for(messages_.gradient_send(action), waits_.sends);
    note_ready();
  }
  issue(repeated, [this, &action] {
    const Instruction& i = action.instruction;
    const Bucket range = stage_.plan().piece_of(i.chunk, i.bucket);
    Stage::BackwardPiece piece{
        .frame = frame_of(action),
        .cells = range.cells,
        .dy = stage_.dy_of(frame_of(action), action.gradient_in),
        .dx = chunk_of(action).is_first ? nullptr : stage_.gradient_out(i.chunk, action.gradient_out)};
    if (i.op == Op::kBackwardInput) {
      stage_.backward_input(piece, on_progress_);
      return;
    }
    piece.gradients = parts_.tree->leaf(i.micro_batch);
    stage_.backward(piece, on_progress_);
    parts_.tree->merge(i.micro_batch, range.begin, range.end);
  });
}

void StepExecutor::backward_weight(const Action& action, RepeatedWork& repeated) {
  issue(repeated, [this, &action] {
    const Instruction& i = action.instruction;
    const Bucket range = stage_.plan().piece_of(i.chunk, i.bucket);
    stage_.backward_weight(
        {.frame = frame_of(action), .cells = range.cells, .gradients = parts_.tree->leaf(i.micro_batch)}, on_progress_);
    parts_.tree->merge(i.micro_batch, range.begin, range.end);
  });
}

void StepExecutor::fold(std::int64_t bucket) {
  stand_by(Wait::kRanks, [&] { parts_.update->await_reduce(bucket); });
  note_ready();
  parts_.update->fold(bucket);
  if (parts_.judge->is_needed()) parts_.judge->look_at_gradient(bucket);
}

void StepExecutor::agree_on_update() {
  wait_for_device();
  if (parts_.judge->is_needed()) outcome_ = parts_.judge->outcome(max_of_all_ranks(parts_.judge->finding()));
  if (is_applied() && parts_.update->needs_norms()) parts_.update->agree_on_norms();
}

void StepExecutor::gather(const Action& action, std::int64_t bucket) {
  stand_by(Wait::kRanks, [&] { parts_.update->await_gather(bucket); });
  note_ready();
  parts_.update->finish_gather(bucket);
  stage_.load_weights(action.instruction.chunk, stage_.plan().layout.buckets[bucket].cells);
}

std::int64_t StepExecutor::max_of_all_ranks(std::int64_t mine) {
  std::int64_t max = 0;
  mpi::Request exchange = runtime_.grid().world().start_max(&mine, &max);
  const ScopedTimer timer(waits_.replicas);
  stand_by(Wait::kRanks, [&] { wait_until(transport_, [&] { return exchange.test(); }); });
  return max;
}

// The board says meanwhile what this rank waits for.
template <typename Work>
void StepExecutor::stand_by(Wait wait, Work&& work) {
  board_.wait_for(wait);
  work();
  board_.go_on();
}

// Adds the time of the wait to `seconds`.
void StepExecutor::wait_for(Message& message, double& seconds) {
  if (message.test()) return;
  const ScopedTimer timer(seconds);
  stand_by(Wait::kRanks, [&] { wait_until(transport_, [&] { return message.test(); }); });
}

// Neighbours may wait for messages that this rank has yet to move on.
void StepExecutor::wait_for_device() {
  Device& device = runtime_.device();
  stand_by(Wait::kDevice, [&] {
    if (!device.idle()) wait_until(transport_, [&] { return device.idle(); });
    device.synchronize();
  });
}

// The caller may wait for other ranks next, while these wait for the messages.
void StepExecutor::let_messages_leave() {
  if (transport_.holds_back()) wait_until(transport_, [&] { return !transport_.holds_back(); });
}

RankWaits StepExecutor::waits() const {
  RankWaits waits = waits_;
  if (parts_.update != nullptr) waits.replicas += parts_.update->wait_seconds();
  return waits;
}

}  // namespace convoy
