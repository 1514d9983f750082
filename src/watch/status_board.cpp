/// Single values, each stored by one thread alone.
#include "watch/status_board.h"

#include "convoy/base/clock.h"

namespace convoy {

namespace {

template <typename T>
void set(std::atomic<T>& to, T value) {
  to.store(value, std::memory_order_relaxed);
}

template <typename T>
T get(const std::atomic<T>& from) {
  return from.load(std::memory_order_relaxed);
}

}  // namespace

void StatusBoard::note() {
  since_.store(now_seconds(), std::memory_order_release);
}

void StatusBoard::take_place(std::int64_t replica, std::int64_t stage) {
  set(replica_, replica);
  set(stage_, stage);
}

void StatusBoard::enter(Activity activity) {
  set(activity_, activity);
  set(wait_, Wait::kNothing);
  set(step_since_, 0.0);  // what comes in between is not a step's time
  note();
}

void StatusBoard::begin_step(std::int64_t step) {
  const double now = now_seconds(), before = get(step_since_);
  if (before > 0) set(step_seconds_, now - before);
  set(step_since_, now);
  set(step_, step);
}

void StatusBoard::begin(const Instruction& instruction) {
  set(op_, instruction.op);
  set(micro_batch_, instruction.micro_batch);
  set(bucket_, instruction.bucket);
  set(chunk_, instruction.chunk);
  set(in_step_, true);
  set(wait_, Wait::kNothing);
  note();
}

void StatusBoard::end_step() {
  set(in_step_, false);
  set(wait_, Wait::kNothing);
  note();
}

void StatusBoard::wait_for(Wait wait) {
  set(wait_, wait);
  note();
}

RankStatus StatusBoard::read() const {
  const double since = since_.load(std::memory_order_acquire);
  return {
      .replica = get(replica_),
      .stage = get(stage_),
      .activity = get(activity_),
      .wait = get(wait_),
      .in_step = get(in_step_),
      .step = get(step_),
      .instruction = {.op = get(op_), .micro_batch = get(micro_batch_), .bucket = get(bucket_), .chunk = get(chunk_)},
      .standing_seconds = now_seconds() - since};
}

}  // namespace convoy
