/// Single values, each stored by one thread alone.
#include "watchdog/status_board.h"

#include "convoy/base/clock.h"

namespace convoy {

void StatusBoard::note() {
  since_ = now_seconds();
}

void StatusBoard::take_place(std::int64_t replica, std::int64_t stage) {
  replica_ = replica;
  stage_ = stage;
}

void StatusBoard::enter(Activity activity) {
  activity_ = activity;
  wait_ = Wait::kNothing;
  step_since_ = 0.0;  // what comes in between is not a step's time
  note();
}

void StatusBoard::begin_step(std::int64_t step) {
  const double now = now_seconds(), before = step_since_;
  if (before > 0) step_seconds_ = now - before;
  step_since_ = now;
  step_ = step;
}

void StatusBoard::begin(const Instruction& instruction) {
  op_ = instruction.op;
  micro_batch_ = instruction.micro_batch;
  bucket_ = instruction.bucket;
  chunk_ = instruction.chunk;
  in_step_ = true;
  wait_ = Wait::kNothing;
  note();
}

void StatusBoard::end_step() {
  in_step_ = false;
  wait_ = Wait::kNothing;
  note();
}

void StatusBoard::wait_for(Wait wait) {
  wait_ = wait;
  note();
}

RankStatus StatusBoard::read() const {
  const double since = since_;
  return {.replica = replica_,
          .stage = stage_,
          .activity = activity_,
          .wait = wait_,
          .in_step = in_step_,
          .step = step_,
          .instruction = {.op = op_, .micro_batch = micro_batch_, .bucket = bucket_, .chunk = chunk_},
          .standing_seconds = now_seconds() - since};
}

}  // namespace convoy
