/// Sets marks on the device's stopwatch, and notes to which instruction each belongs.
#include "step/instruction_timer.h"

#include <algorithm>

#include "convoy/base/clock.h"

namespace convoy {

namespace {

// Two marks with nothing between them but the question whether a message is here: shorter is no wait.
constexpr double kMinWaitSeconds = 1e-6;

}  // namespace

InstructionTimer::InstructionTimer(Device& device, std::int64_t instructions_per_step, std::int64_t num_steps)
    : stopwatch_(device.make_stopwatch(num_steps * (1 + 2 * instructions_per_step))),
      begin_marks_(static_cast<std::size_t>(instructions_per_step * num_steps), kNone),
      ready_marks_(begin_marks_),
      end_marks_(begin_marks_),
      host_ready_(begin_marks_.size(), 0.0) {}

std::int64_t InstructionTimer::set_mark() {
  stopwatch_->mark(num_marks_);
  return num_marks_++;
}

void InstructionTimer::begin_step() {
  begin_mark_ = set_mark();
  begin_seconds_ = now_seconds();
  ++num_steps_;
}

void InstructionTimer::waited(double seconds) {
  if (seconds > 0) host_ready_[index()] = begin_seconds_ + seconds;
}

void InstructionTimer::end_instruction() {
  begin_marks_[index()] = begin_mark_;
  begin_mark_ = end_marks_[index()] = set_mark();
  begin_seconds_ = now_seconds();
  ++num_instructions_;
}

double InstructionTimer::ready_seconds(std::size_t index, double begin, double end,
                                       const std::vector<double>& marks) const {
  const double by_mark = ready_marks_[index] == kNone ? begin : marks[static_cast<std::size_t>(ready_marks_[index])];
  // A device that lags the host may have had work during the whole of a wait that the host has timed.
  const double ready = std::clamp(std::max(by_mark, host_ready_[index]), begin, end);
  return ready - begin < kMinWaitSeconds ? begin : ready;
}

std::vector<InstructionTimes> InstructionTimer::read() {
  const std::vector<double> marks = stopwatch_->read(num_marks_);
  std::vector<InstructionTimes> times;
  for (std::size_t i = 0; i < index(); ++i) {
    const double begin = marks[static_cast<std::size_t>(begin_marks_[i])];
    const double end = std::max(begin, marks[static_cast<std::size_t>(end_marks_[i])]);
    times.push_back({.begin = begin, .ready = ready_seconds(i, begin, end, marks), .end = end});
  }
  return times;
}

}  // namespace convoy
