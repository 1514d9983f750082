/// One case an instruction. Sends start and go on alone; a receive was posted as early as its buffer was free.
#include "train/step_executor.h"

#include "convoy/base/clock.h"

namespace convoy {

namespace {

constexpr std::int64_t kFloatBytes = sizeof(float);

// Both ends list their micro-batches in the same order, and messages of one tag do not overtake each other.
constexpr int kActivationTag = 0, kGradientTag = 1;

}  // namespace

StepExecutor::StepExecutor(Stage& stage, const ProcessGrid& grid, Device& device, BoundProgram program,
                           ops::SoftmaxCrossEntropyOp* loss, const TrainingParts& training)
    : stage_(stage),
      grid_(grid),
      device_(device),
      program_(std::move(program)),
      loss_(loss),
      training_(training),
      poke_([this] { poke(); }),
      activation_sends_(program_.num_frames),
      activation_receives_(program_.num_frames),
      gradient_sends_(kGradientBuffers),
      gradient_receives_(kGradientBuffers) {
  if (grid.is_last_stage()) {
    labels_ = Buffer(device, stage.last_cell().y().n * static_cast<std::int64_t>(sizeof(std::int32_t)));
    sums_.resize(program_.num_micro_batches);
  }
}

void StepExecutor::finish() {
  for (mpi::Request& request : activation_sends_) wait_for(request);
  for (mpi::Request& request : gradient_sends_) wait_for(request);
}

void StepExecutor::run(BatchSource& source) {
  for (const Action& action : program_.actions) {
    for (const EarlyReceive& receive : action.receives_before) post(receive);
    execute(action, source);
  }
  device_.synchronize();
}

void StepExecutor::execute(const Action& action, BatchSource& source) {
  const std::int64_t m = action.instruction.micro_batch;
  const std::int64_t bucket = action.instruction.bucket;
  switch (action.instruction.op) {
    case Op::kLoadInput: {
      const ScopedTimer timer(times_.load);
      source.load_images(m, stage_.input(action.frame));
      break;
    }
    case Op::kRecvActivation:
      wait_for(activation_receives_[action.frame]);
      break;
    case Op::kForward:
      forward(action);
      break;
    case Op::kSendActivation:
      send_activation(action);
      break;
    case Op::kLoadLabels: {
      const ScopedTimer timer(times_.load);
      source.load_labels(m, reinterpret_cast<std::int32_t*>(labels_.data()));
      break;
    }
    case Op::kLoss:
      loss_->run(stage_.output(action.frame), reinterpret_cast<const std::int32_t*>(labels_.data()),
                 is_training() ? stage_.dlogits(action.frame) : nullptr, &sums_[m]);
      break;
    case Op::kRecvGradient:
      wait_for(gradient_receives_[action.gradient_in]);
      break;
    case Op::kBackward:
      backward(action);
      break;
    case Op::kSendGradient:
      send_gradient(action);
      break;
    case Op::kReduceBucket: {
      const Bucket& range = stage_.plan().layout.buckets[bucket];
      training_.update->start_reduce(bucket, training_.tree->finish(range.begin, range.end));
      break;
    }
    case Op::kUpdateBucket:
      training_.update->update(bucket);
      break;
    case Op::kGatherBucket:
      training_.update->finish_gather(bucket);
      stage_.load_weights(stage_.plan().layout.buckets[bucket].cells);
      break;
  }
}

void StepExecutor::forward(const Action& action) {
  wait_for(activation_sends_[action.frame]);  // what the frame's last output was sent for has long arrived
  stage_.forward(action.frame, is_training(), poke_);
}

void StepExecutor::backward(const Action& action) {
  const std::int64_t m = action.instruction.micro_batch;
  const ArenaLayout& layout = stage_.plan().layout;
  const bool whole = action.instruction.bucket == kAllBuckets;
  const Bucket piece = whole ? Bucket{.cells = layout.cells, .begin = 0, .end = layout.count}
                             : layout.buckets[action.instruction.bucket];
  float* dy = nullptr;
  if (action.first_piece) {
    dy = grid_.is_last_stage() ? stage_.dlogits(action.frame) : stage_.gradient_in(action.gradient_in);
    wait_for(gradient_sends_[action.gradient_out]);
  }
  stage_.backward({.frame = action.frame,
                   .cells = piece.cells,
                   .dy = dy,
                   .dx = grid_.is_first_stage() ? nullptr : stage_.gradient_out(action.gradient_out),
                   .gradients = training_.tree->leaf(m)},
                  poke_);
  training_.tree->merge(m, piece.begin, piece.end);
}

void StepExecutor::send_activation(const Action& action) {
  activation_sends_[action.frame] =
      grid_.model().start_send(stage_.output(action.frame), stage_.last_cell().y().count() * kFloatBytes,
                               static_cast<int>(grid_.stage()) + 1, kActivationTag);
}

void StepExecutor::send_gradient(const Action& action) {
  gradient_sends_[action.gradient_out] =
      grid_.model().start_send(stage_.gradient_out(action.gradient_out), stage_.first_cell().x().count() * kFloatBytes,
                               static_cast<int>(grid_.stage()) - 1, kGradientTag);
}

void StepExecutor::post(const EarlyReceive& receive) {
  const int stage = static_cast<int>(grid_.stage());
  if (receive.op == Op::kRecvActivation) {
    activation_receives_[receive.buffer] = grid_.model().start_receive(
        stage_.input(receive.buffer), stage_.first_cell().x().count() * kFloatBytes, stage - 1, kActivationTag);
  } else {
    gradient_receives_[receive.buffer] = grid_.model().start_receive(
        stage_.gradient_in(receive.buffer), stage_.last_cell().y().count() * kFloatBytes, stage + 1, kGradientTag);
  }
}

void StepExecutor::wait_for(mpi::Request& request) {
  if (request.test()) return;
  const ScopedTimer timer(times_.wait_model);
  mpi::wait_until([&] {
    poke();
    return request.test();
  });
}

void StepExecutor::poke() {
  if (is_training() && training_.update->poke()) return;
  for (auto* requests : {&activation_receives_, &gradient_receives_, &activation_sends_, &gradient_sends_})
    for (mpi::Request& request : *requests)
      if (request.active()) {
        request.test();
        return;  // one test moves all of this rank's messages
      }
}

ExecutorTimes StepExecutor::times() const {
  ExecutorTimes times = times_;
  if (is_training()) times.wait_data = training_.update->wait_seconds();
  return times;
}

}  // namespace convoy
