/// Asks rank 0 for its time, and interpolates between two such readings.
#include "convoy/comm/root_clock.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "convoy/comm/tags.h"

namespace convoy {

namespace {

constexpr int kQuestions = 64;  // of which one should meet neither a busy core nor a busy network

void answer(const mpi::Communicator& group, int rank, const Clock& clock) {
  for (int i = 0; i < kQuestions; ++i) {
    double seconds = 0;
    group.receive(&seconds, sizeof seconds, rank, tags::kClock);
    seconds = clock();
    group.send(&seconds, sizeof seconds, rank, tags::kClock);
  }
}

ClockReading ask(const mpi::Communicator& group, const Clock& clock) {
  ClockReading best{.error_seconds = std::numeric_limits<double>::infinity()};
  for (int i = 0; i < kQuestions; ++i) {
    double roots = 0;
    const double before = clock();
    group.send(&before, sizeof before, 0, tags::kClock);
    group.receive(&roots, sizeof roots, 0, tags::kClock);
    const double after = clock();
    const double middle = before + (after - before) / 2, error = (after - before) / 2;
    if (error < best.error_seconds)
      best = {.at_seconds = middle, .offset_seconds = roots - middle, .error_seconds = error};
  }
  return best;
}

}  // namespace

ClockReading read_root_clock(const mpi::Communicator& group, const Clock& clock) {
  if (group.rank() != 0) return ask(group, clock);
  for (int rank = 1; rank < group.size(); ++rank) answer(group, rank, clock);
  return {.at_seconds = clock(), .offset_seconds = 0, .error_seconds = 0};
}

bool RootClock::is_one_clock() const {
  const auto allows = [](const ClockReading& reading) {
    return std::abs(reading.offset_seconds) <= reading.error_seconds;
  };
  return allows(before_) && allows(after_);
}

double RootClock::at(double seconds) const {
  if (is_one_clock()) return seconds;
  const double between = after_.at_seconds - before_.at_seconds;
  const double part = between > 0 ? (seconds - before_.at_seconds) / between : 0;
  return seconds + before_.offset_seconds + part * (after_.offset_seconds - before_.offset_seconds);
}

// A line between two values, each wrong by so much, is nowhere between them wrong by more.
double RootClock::error_seconds() const {
  return std::max(before_.error_seconds, after_.error_seconds);
}

}  // namespace convoy
