/// Work that is issued again and again, as a CUDA graph: one launch in place of hundreds.
#pragma once

#include "convoy/device/device.h"

#include "device/cuda/handles.h"

namespace convoy::cuda {

class GraphRecording final : public Recording {
 public:
  explicit GraphRecording(cudaStream_t stream) : stream_(stream) {}
  /// Waits for a graph under way.
  ~GraphRecording() override;

  /// The first run issues the work as it is: kernels are loaded when they are first used, which a capture does not
  /// allow. The second captures it, and from there on it is replayed.
  void run(const std::function<void()>& issue) override;

 private:
  void capture(const std::function<void()>& issue);

  cudaStream_t stream_;
  bool warm_ = false;
  GraphExec graph_;
};

}  // namespace convoy::cuda
