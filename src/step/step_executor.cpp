/// Has one case per instruction. Sends start and complete by themselves; a receive was started as soon as its buffer
/// was free.
#include "step/step_executor.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "convoy/base/clock.h"
#include "convoy/comm/tags.h"
#include "convoy/ops/dropout.h"

#include "step/step_recorder.h"

namespace convoy {

StepExecutor::StepExecutor(RankRuntime& runtime, BoundProgram program, StepLoss* loss, const TrainingParts& training)
    : runtime_(runtime),
      program_(std::move(program)),
      loss_(loss),
      training_(training),
      found_(runtime.device(), sizeof(std::int32_t)) {
  // A device that runs asynchronously to the host is given a cell's work in microseconds: there is nothing to do in
  // between, and a recording must hold the stage's work alone.
  on_progress_ = [] {};
  if (runtime.device().is_host()) on_progress_ = [this] { runtime_.transport().progress(); };
  const std::vector<ChunkPlan>& chunks = runtime.stage().plan().chunks;
  if (is_training() && std::ranges::any_of(chunks, &ChunkPlan::draws))
    draw_keys_ =
        HostBuffer(runtime.device(), program_.num_micro_batches * static_cast<std::int64_t>(sizeof(ops::DrawKey)));
  create_messages();
  plan_recordings();
}

// Virtual stages follow each other round the stages: after the last one's chunk c comes the first one's chunk c + 1.
void StepExecutor::create_messages() {
  for (std::int64_t c = 0; c < std::ssize(program_.num_frames); ++c) {
    ChunkMessages& messages = messages_.emplace_back();
    const ChunkPlan& chunk = runtime_.stage().plan().chunks[c];
    if (!chunk.is_first) create_previous_messages(c, messages);
    if (!chunk.is_last) create_next_messages(c, messages);
  }
}

void StepExecutor::create_previous_messages(std::int64_t chunk, ChunkMessages& messages) {
  const std::int64_t stages = runtime_.grid().num_stages(), me = runtime_.grid().stage();
  const std::int64_t chunk_before = runtime_.grid().is_first_stage() ? chunk - 1 : chunk;
  MessageSpec spec{.group = runtime_.grid().model(),
                   .size_bytes = runtime_.stage().plan().chunks[chunk].boundary_in_bytes,
                   .peer = static_cast<int>((me + stages - 1) % stages),
                   .tag = tags::activation(chunk_before)};
  for (std::int64_t frame = 0; frame < program_.num_frames[chunk]; ++frame) {
    spec.data = runtime_.stage().input({chunk, frame});
    messages.activation_receives.push_back(runtime_.transport().receive(spec));
  }
  if (!is_training()) return;
  spec.tag = tags::gradient(chunk_before);
  for (std::int64_t buffer = 0; buffer < kGradientBuffers; ++buffer) {
    spec.data = runtime_.stage().gradient_out(chunk, buffer);
    messages.gradient_sends.push_back(runtime_.transport().send(spec));
  }
}

void StepExecutor::create_next_messages(std::int64_t chunk, ChunkMessages& messages) {
  MessageSpec spec{.group = runtime_.grid().model(),
                   .size_bytes = runtime_.stage().plan().chunks[chunk].boundary_out_bytes,
                   .peer = static_cast<int>((runtime_.grid().stage() + 1) % runtime_.grid().num_stages()),
                   .tag = tags::activation(chunk)};
  for (std::int64_t frame = 0; frame < program_.num_frames[chunk]; ++frame) {
    spec.data = runtime_.stage().output({chunk, frame});
    messages.activation_sends.push_back(runtime_.transport().send(spec));
  }
  if (!is_training()) return;
  spec.tag = tags::gradient(chunk);
  for (std::int64_t buffer = 0; buffer < kGradientBuffers; ++buffer) {
    spec.data = runtime_.stage().gradient_in(chunk, buffer);
    messages.gradient_receives.push_back(runtime_.transport().receive(spec));
  }
}

// Actions that do the same work on the same memory share a recording.
void StepExecutor::plan_recordings() {
  using Memory = std::tuple<Op, std::int64_t, std::int64_t, std::int64_t, std::int64_t, const float*, std::int64_t>;
  std::map<Memory, Recording*> known;
  for (const Action& action : program_.actions) {
    const Instruction& i = action.instruction;
    Recording*& recording = recording_of_.emplace_back(nullptr);
    if (i.op != Op::kForward && !is_backward(i.op)) continue;
    const bool has_gradients = i.op == Op::kBackward || i.op == Op::kBackwardWeight;
    const float* leaf = has_gradients ? training_.tree->leaf(i.micro_batch) : nullptr;
    Recording*& same = known[{i.op, i.chunk, action.frame, action.gradient_in, action.gradient_out, leaf, i.bucket}];
    if (same == nullptr) same = recordings_.emplace_back(runtime_.device().make_recording()).get();
    recording = same;
  }
}

void StepExecutor::finish() {
  for (const ChunkMessages& messages : messages_)
    for (const Messages* sends : {&messages.activation_sends, &messages.gradient_sends})
      for (const auto& message : *sends) wait_for(*message);
}

void StepExecutor::run(BatchSource& source, std::int64_t step) {
  outcome_ = StepOutcome::kApplied;
  if (draw_keys_.size_bytes() > 0) set_draw_keys(step);
  for (StepRecorder* recorder : recorders_) recorder->begin_step();
  source.begin_step();
  for (std::size_t i = 0; i < program_.actions.size(); ++i) {
    const Action& action = program_.actions[i];
    runtime_.board().begin(action.instruction);
    for (const EarlyReceive& receive : program_.receives_before(action)) receive_of(receive).start();
    execute(action, recording_of_[i], source);
    runtime_.transport().progress();
    if (runtime_.beside()) runtime_.beside()();
    for (StepRecorder* recorder : recorders_) recorder->end_instruction();
  }
  wait_for_device();
  let_messages_leave();
  runtime_.board().end_step();
  if (training_.update != nullptr && (is_applied() || outcome_ == StepOutcome::kOverflow))
    training_.loss_scale->end_step(outcome_ == StepOutcome::kOverflow);
}

// Every pass ends with the device idle: no work of the pass before still reads its keys.
void StepExecutor::set_draw_keys(std::int64_t step) {
  for (std::int64_t m = 0; m < program_.num_micro_batches; ++m)
    draw_keys_.as<ops::DrawKey>()[m] = {.seed = runtime_.plan().spec().train.seed,
                                        .step = static_cast<std::uint64_t>(step),
                                        .micro_batch = static_cast<std::uint64_t>(training_.first_micro_batch + m)};
}

void StepExecutor::execute(const Action& action, Recording* recording, BatchSource& source) {
  const std::int64_t chunk = action.instruction.chunk, bucket = bucket_of(action.instruction);
  Stage& stage = runtime_.stage();
  ShardedUpdate* update = training_.update;
  switch (action.instruction.op) {
    case Op::kLoad:
      load(action, source);
      break;
    case Op::kRecvActivation:
      wait_for(*messages_of(action).activation_receives[action.frame]);
      note_ready();
      break;
    case Op::kForward:
      forward(action, *recording);
      break;
    case Op::kSendActivation:
      record(action, RecordItem::Kind::kOutput, stage.output(slot_of(action)), chunk_of(action).boundary_out_bytes);
      messages_of(action).activation_sends[action.frame]->start();
      break;
    case Op::kLoss:
      compute_loss(action);
      if (logits_lane_) copy_logits(action);
      break;
    case Op::kRecvGradient:
      wait_for(*messages_of(action).gradient_receives[action.gradient_in]);
      note_ready();
      break;
    case Op::kBackward:
    case Op::kBackwardInput:
      backward(action, *recording);
      break;
    case Op::kBackwardWeight:
      backward_weight(action, *recording);
      break;
    case Op::kSendGradient:
      record(action, RecordItem::Kind::kInputGradient, stage.gradient_out(chunk, action.gradient_out),
             chunk_of(action).boundary_in_bytes);
      messages_of(action).gradient_sends[action.gradient_out]->start();
      break;
    case Op::kReduceBucket: {
      const Bucket& range = stage.plan().layout.buckets[bucket];
      training_.tree->finish(range.begin, range.end);
      update->start_reduce(bucket);
      break;
    }
    case Op::kFoldBucket:
      stand_by(Wait::kRanks, [&] { update->await_reduce(bucket); });
      note_ready();
      update->fold(bucket);
      if (checks_gradients()) update->find_non_finite(bucket, found_.as<std::int32_t>().data());
      break;
    case Op::kAgreeOnUpdate:
      agree_on_update();
      note_ready();
      break;
    case Op::kUpdateBucket:
      if (is_applied()) update->update(bucket);
      break;
    case Op::kGatherBucket:
      if (!is_applied()) break;
      stand_by(Wait::kRanks, [&] { update->await_gather(bucket); });
      note_ready();
      update->finish_gather(bucket);
      stage.load_weights(chunk, stage.plan().layout.buckets[bucket].cells);
      break;
  }
}

/// Called when what the instruction waited for has come.
void StepExecutor::note_ready() {
  for (StepRecorder* recorder : recorders_) recorder->ready();
}

// Loads the features that the chunk's cells and, in the last chunk, the loss read.
void StepExecutor::load(const Action& action, BatchSource& source) {
  const ScopedTimer timer(times_.load);
  const double waited = source.wait_seconds();
  const std::int64_t m = action.instruction.micro_batch;
  stand_by(Wait::kSamples, [&] {
    runtime_.stage().for_each_feature(slot_of(action), [&](const Feature& feature, void* to) {
      source.load(feature.name, m, to);
      record(action, RecordItem::Kind::kFeatures, to, feature.spec.bytes());
    });
    if (chunk_of(action).is_last) loss_->load(source, m);
  });
  const double waits = source.wait_seconds() - waited;
  times_.wait_samples += waits;
  for (StepRecorder* recorder : recorders_) recorder->waited(waits);
}

void StepExecutor::compute_loss(const Action& action) {
  const std::int64_t m = action.instruction.micro_batch;
  loss_->run({.micro_batch = m,
              .y = runtime_.stage().output(slot_of(action)),
              .dy = is_training() ? runtime_.stage().output_gradient(slot_of(action)) : nullptr,
              .loss_scale = is_training() ? static_cast<float>(training_.loss_scale->scale()) : 1.0f});
  if (is_recorded(action)) record_loss(action);
}

void StepExecutor::record_loss(const Action& action) const {
  const std::span<const ops::LossSums> sums = loss_->sums_of_micro_batch(action.instruction.micro_batch);
  record(action, RecordItem::Kind::kOutput, runtime_.stage().output(slot_of(action)),
         runtime_.stage().last_cell().y().bytes());
  record(action, RecordItem::Kind::kLoss, sums.data(), static_cast<std::int64_t>(sums.size_bytes()));
}

// The copy runs while the device computes, but before the frame's next forward pass, which overwrites the logits.
void StepExecutor::copy_logits(const Action& action) {
  if (!logits_lane_->done()) wait_until(runtime_.transport(), [&] { return logits_lane_->done(); });
  const std::int64_t size_bytes = runtime_.stage().last_cell().y().bytes();
  logits_lane_->mark();
  logits_lane_->start_to_host(logits_.data() + action.instruction.micro_batch * size_bytes,
                              runtime_.stage().output(slot_of(action)), size_bytes);
  logits_lane_->join();
}

// A recording that is replayed calls no layer: there would be nothing to watch.
void StepExecutor::issue(Recording& recording, const std::function<void()>& work) const {
  if (runtime_.stage().is_watched()) return work();
  recording.run(work);
}

void StepExecutor::forward(const Action& action, Recording& recording) {
  // What the frame's last output was sent for has long arrived.
  if (!chunk_of(action).is_last) {
    wait_until_sent(*messages_of(action).activation_sends[action.frame]);
    note_ready();
  }
  // Outside of the recording, which several micro-batches may share.
  if (is_training() && chunk_of(action).draws)
    runtime_.stage().set_draw_key(slot_of(action), &draw_keys_.as<ops::DrawKey>()[action.instruction.micro_batch]);
  record(action, RecordItem::Kind::kInput, runtime_.stage().input(slot_of(action)), chunk_of(action).boundary_in_bytes);
  issue(recording, [this, &action] { runtime_.stage().forward(slot_of(action), is_training(), on_progress_); });
}

// Joint, or the data gradient alone.
void StepExecutor::backward(const Action& action, Recording& recording) {
  if (action.first_piece && !chunk_of(action).is_first) {
    wait_until_sent(*messages_of(action).gradient_sends[action.gradient_out]);
    note_ready();
  }
  if (action.first_piece) record(action, RecordItem::Kind::kOutputGradient, dy_of(action), dy_bytes_of(action));
  issue(recording, [this, &action] {
    Stage& stage = runtime_.stage();
    const Instruction& i = action.instruction;
    const Bucket range = piece_of(i);
    Stage::BackwardPiece piece{
        .slot = slot_of(action),
        .cells = range.cells,
        .dy = dy_of(action),
        .dx = chunk_of(action).is_first ? nullptr : stage.gradient_out(i.chunk, action.gradient_out)};
    if (i.op == Op::kBackwardInput) {
      stage.backward_input(piece, on_progress_);
      return;
    }
    piece.gradients = training_.tree->leaf(i.micro_batch);
    stage.backward(piece, on_progress_);
    training_.tree->merge(i.micro_batch, range.begin, range.end);
  });
  if (action.instruction.op == Op::kBackward) record_weight_gradients(action);
}

void* StepExecutor::dy_of(const Action& action) const {
  return chunk_of(action).is_last ? runtime_.stage().output_gradient(slot_of(action))
                                  : runtime_.stage().gradient_in(action.instruction.chunk, action.gradient_in);
}

std::int64_t StepExecutor::dy_bytes_of(const Action& action) const {
  return chunk_of(action).is_last ? runtime_.stage().last_cell().dy().bytes() : chunk_of(action).boundary_out_bytes;
}

// A leaf of an even number: the tree has added nothing to it yet.
void StepExecutor::record_weight_gradients(const Action& action) const {
  if (!is_recorded(action)) return;
  const Instruction& i = action.instruction;
  training_.record->add_weight_gradients(i.chunk, piece_of(i).cells, training_.tree->leaf(i.micro_batch));
}

void StepExecutor::backward_weight(const Action& action, Recording& recording) {
  issue(recording, [this, &action] {
    GradientTree& tree = *training_.tree;
    const std::int64_t m = action.instruction.micro_batch;
    const Bucket range = piece_of(action.instruction);
    runtime_.stage().backward_weight({.slot = slot_of(action), .cells = range.cells, .gradients = tree.leaf(m)},
                                     on_progress_);
    tree.merge(m, range.begin, range.end);
  });
  record_weight_gradients(action);
}

/// Index of the bucket in the layout; the instruction counts the buckets of its chunk.
std::int64_t StepExecutor::bucket_of(const Instruction& instruction) const {
  return runtime_.stage().plan().layout.runs[instruction.chunk].first_bucket + instruction.bucket;
}

/// Returns the cells of a backward instruction, and their part of the arena.
Bucket StepExecutor::piece_of(const Instruction& instruction) const {
  const ArenaLayout& layout = runtime_.stage().plan().layout;
  if (instruction.bucket == kAllBuckets) return layout.runs[instruction.chunk].whole();
  return layout.buckets[bucket_of(instruction)];
}

void StepExecutor::agree_on_update() {
  wait_for_device();
  if (checks_gradients()) outcome_ = judge_step();
  if (is_applied() && training_.update->needs_norms()) training_.update->agree_on_norms();
}

// Checks each micro-batch by itself, so that this rank need not wait for a sum over replicas.
bool StepExecutor::has_bad_loss() const {
  if (loss_ == nullptr || !checks_numbers()) return false;
  for (std::int64_t m = 0; m < loss_->num_micro_batches(); ++m)
    if (loss_->is_bad(m, runtime_.plan().spec().train.loss_limit)) return true;
  return false;
}

// The largest number that any rank has found counts: a bad loss does not come from fp16's scale, and if arithmetic is
// wrong, no number says anything.
StepOutcome StepExecutor::judge_step() {
  constexpr std::int64_t kNothing = 0, kBadLoss = 2, kWrong = 3;  // 1: a gradient that is not a finite number
  std::int32_t& found = found_.as<std::int32_t>().front();
  StepAudit* const audit = training_.audit;
  const bool is_wrong = audit != nullptr && audit->is_checking() && !audit->holds();
  const std::int64_t mine = has_bad_loss() ? kBadLoss : found;
  const std::int64_t worst = max_of_all_ranks(is_wrong ? kWrong : mine);
  found = 0;
  if (worst == kNothing) return StepOutcome::kApplied;
  if (worst == kWrong) return StepOutcome::kWrong;
  const LossScale& scale = *training_.loss_scale;
  const bool may_be_scale = scale.is_dynamic() && !(checks_numbers() && scale.is_smallest());
  return worst != kBadLoss && may_be_scale ? StepOutcome::kOverflow : StepOutcome::kBad;
}

std::int64_t StepExecutor::max_of_all_ranks(std::int64_t mine) {
  std::int64_t max = 0;
  mpi::Request exchange = runtime_.grid().world().start_max(&mine, &max);
  const ScopedTimer timer(times_.wait_data);
  stand_by(Wait::kRanks, [&] { wait_until(runtime_.transport(), [&] { return exchange.test(); }); });
  return max;
}

Message& StepExecutor::receive_of(const EarlyReceive& receive) const {
  const ChunkMessages& messages = messages_[receive.chunk];
  return receive.op == Op::kRecvActivation ? *messages.activation_receives[receive.buffer]
                                           : *messages.gradient_receives[receive.buffer];
}

// The board says meanwhile what this rank waits for.
template <typename Work>
void StepExecutor::stand_by(Wait wait, Work&& work) {
  runtime_.board().wait_for(wait);
  work();
  runtime_.board().go_on();
}

void StepExecutor::wait_for(Message& message) {
  if (message.test()) return;
  const ScopedTimer timer(times_.wait_model);
  stand_by(Wait::kRanks, [&] { wait_until(runtime_.transport(), [&] { return message.test(); }); });
}

void StepExecutor::wait_until_sent(Message& message) {
  if (message.test()) return;
  const ScopedTimer timer(times_.wait_sends);
  wait_for(message);
}

// Neighbours may wait for messages that this rank has yet to move on.
void StepExecutor::wait_for_device() {
  stand_by(Wait::kDevice, [&] {
    if (!runtime_.device().idle()) wait_until(runtime_.transport(), [&] { return runtime_.device().idle(); });
    runtime_.device().synchronize();
  });
}

// The caller may wait for other ranks next, while these wait for the messages.
void StepExecutor::let_messages_leave() {
  if (runtime_.transport().holds_back())
    wait_until(runtime_.transport(), [&] { return !runtime_.transport().holds_back(); });
}

void StepExecutor::keep_logits() {
  if (logits_lane_ || !runtime_.grid().is_last_stage()) return;
  logits_ = HostBuffer(runtime_.device(), program_.num_micro_batches * runtime_.stage().last_cell().y().bytes());
  logits_lane_ = runtime_.device().make_copy_lane();
}

ExecutorTimes StepExecutor::times() const {
  ExecutorTimes times = times_;
  if (training_.update != nullptr) times.wait_data += training_.update->wait_seconds();
  return times;
}

}  // namespace convoy
