/// When the GPU did what it was given.
#pragma once

#include <vector>

#include "convoy/device/device.h"

#include "device/cuda/handles.h"

namespace convoy::cuda {

/// An event a mark, recorded among the arithmetic. The GPU's clock is set against the host's when marks are read.
class EventStopwatch final : public Stopwatch {
 public:
  EventStopwatch(cudaStream_t stream, std::int64_t num_marks);

  void mark(std::int64_t number) override;
  std::vector<double> read(std::int64_t num_marks) override;

 private:
  double set_against_host();

  cudaStream_t stream_;
  std::vector<Event> marks_;
  Event anchor_ = make_event(Timing::kOn);
};

}  // namespace convoy::cuda
