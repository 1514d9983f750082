/// What every operation of the CUDA device needs to know: where its work goes, and scratch memory for one call.
#pragma once

#include <cstdint>
#include <vector>

#include <cuda_runtime.h>

#include "convoy/device/device.h"

namespace convoy::ops::cuda {

/// Scratch memory is shared: operations of a library run one after the other on one stream. While operations are
/// planned it grows to what the hungriest asks for; data() is read when they run.
class Context {
 public:
  Context(Device& device, cudaStream_t stream) : device_(device), stream_(stream) {}

  Device& device() const { return device_; }
  cudaStream_t stream() const { return stream_; }

  /// At planning. The memory before is kept until the end: a recording may refer to it.
  void reserve_scratch(std::int64_t size_bytes);
  std::byte* scratch() const { return scratch_.data(); }
  /// With what it has outgrown.
  std::int64_t scratch_bytes() const;

 private:
  Device& device_;
  cudaStream_t stream_;
  Buffer scratch_;
  std::vector<Buffer> outgrown_;
};

}  // namespace convoy::ops::cuda
