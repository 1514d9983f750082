/// Marks by events; their times by one event more, whose time both clocks know.
#include "device/cuda/event_stopwatch.h"

#include <limits>

#include "convoy/base/clock.h"

#include "device/cuda/check.h"

namespace convoy::cuda {

EventStopwatch::EventStopwatch(cudaStream_t stream, std::int64_t num_marks) : stream_(stream) {
  for (std::int64_t i = 0; i < num_marks; ++i) marks_.push_back(make_event(Timing::kOn));
}

void EventStopwatch::mark(std::int64_t number) {
  CONVOY_CHECK_CUDA(cudaEventRecord(marks_[static_cast<std::size_t>(number)].get(), stream_));
}

// Events give milliseconds as float: 2^-24 of the distance to the anchor, a microsecond in 17 s.
std::vector<double> EventStopwatch::read(std::int64_t num_marks) {
  const double anchor_seconds = set_against_host();
  std::vector<double> seconds;
  for (std::int64_t i = 0; i < num_marks; ++i) {
    float milliseconds = 0;
    CONVOY_CHECK_CUDA(cudaEventElapsedTime(&milliseconds, marks_[static_cast<std::size_t>(i)].get(), anchor_.get()));
    seconds.push_back(anchor_seconds - 1e-3 * static_cast<double>(milliseconds));
  }
  return seconds;
}

/// The host's seconds at which the GPU met the anchor. Nothing else is under way, so that is between the calls before
/// and after it; of several attempts the last is as short as the shortest so far, if it can be had.
double EventStopwatch::set_against_host() {
  constexpr int kAttempts = 100;
  CONVOY_CHECK_CUDA(cudaStreamSynchronize(stream_));
  double shortest = std::numeric_limits<double>::infinity();
  for (int attempt = 0;; ++attempt) {
    const double before = now_seconds();
    CONVOY_CHECK_CUDA(cudaEventRecord(anchor_.get(), stream_));
    CONVOY_CHECK_CUDA(cudaEventSynchronize(anchor_.get()));
    const double after = now_seconds();
    const bool is_good = attempt >= kAttempts / 2 && after - before <= 1.2 * shortest;
    if (is_good || attempt == kAttempts) return (before + after) / 2;
    if (after - before < shortest) shortest = after - before;
  }
}

}  // namespace convoy::cuda
