/// On a CPU the executor's own clocks; on a GPU, whose work the host only issues, marks among that work.
#include "telemetry/rank_meter.h"

#include <cstddef>

#include "convoy/comm/memory_limits.h"

namespace convoy {

namespace {

constexpr std::int64_t kWarmUpSteps = 3;
constexpr std::int64_t kTimedSteps = 8;  // of each interval

double* cause_of(Op op, RankWaits& waits) {
  switch (op) {
    case Op::kRecvActivation:
    case Op::kRecvGradient:
      return &waits.neighbours;
    case Op::kForward:
    case Op::kBackward:
    case Op::kBackwardInput:
      return &waits.sends;
    case Op::kFoldBucket:
    case Op::kGatherBucket:
    case Op::kAgreeOnUpdate:
      return &waits.replicas;
    case Op::kLoad:
      return &waits.samples;
    default:
      return nullptr;
  }
}

}  // namespace

RankWaits waits_of(const StageProgram& list, std::span<const InstructionTimes> times) {
  RankWaits waits;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (double* const sum = cause_of(list[i % list.size()].op, waits)) *sum += times[i].ready - times[i].begin;
  return waits;
}

RankMeter::RankMeter(TrainingStep& training) : training_(training), runtime_(training.runtime()) {
  if (!runtime_.device().is_host()) sensors_.emplace(runtime_.device().hardware_id());
}

void RankMeter::begin_step() {
  if (runtime_.device().is_host() || timer_ || waits_ || num_warm_ < kWarmUpSteps) return;
  timer_ = std::make_unique<InstructionTimer>(runtime_.device(), std::ssize(training_.program()), kTimedSteps);
  training_.tell(*timer_);
}

void RankMeter::end_step(double seconds) {
  if (num_warm_ < kWarmUpSteps) {
    ++num_warm_;
    waits_before_ = training_.waits();
    return;
  }
  ++num_steps_;
  seconds_ += seconds;
  if (timer_ && timer_->num_steps() == kTimedSteps) read_timer();
}

void RankMeter::read_timer() {
  waits_ = waits_of(training_.program(), timer_->read());
  stop();
  const double factor = 1.0 / static_cast<double>(kTimedSteps);  // of a step
  for (double* const sum : {&waits_->neighbours, &waits_->sends, &waits_->replicas, &waits_->samples}) *sum *= factor;
}

RankSample RankMeter::take(std::int64_t step) {
  RankSample sample{.step = step, .num_steps = num_steps_, .seconds = seconds_, .resident_bytes = resident().now};
  const RankWaits now = training_.waits(), before = waits_before_;
  if (runtime_.device().is_host()) {
    sample.waits = {.neighbours = now.neighbours - before.neighbours,
                    .sends = now.sends - before.sends,
                    .replicas = now.replicas - before.replicas,
                    .samples = now.samples - before.samples};
  } else {
    const auto steps = static_cast<double>(num_steps_);
    sample.has_waits = waits_.has_value();
    if (waits_)
      sample.waits = {.neighbours = steps * waits_->neighbours,
                      .sends = steps * waits_->sends,
                      .replicas = steps * waits_->replicas,
                      .samples = steps * waits_->samples};
    sample.device_bytes = runtime_.device().allocated_bytes();
    sample.gpu = sensors_->read();
  }
  if (timer_) stop();  // fewer steps than room for them: the next ones are timed anew
  waits_.reset();
  waits_before_ = now;
  num_steps_ = 0;
  seconds_ = 0;
  return sample;
}

void RankMeter::stop() {
  if (!timer_) return;
  training_.stop_telling(*timer_);
  timer_.reset();
}

}  // namespace convoy
