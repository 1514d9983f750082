/// Memory in which cuDNN's engines for a pass of a convolution are compared: by their time, and by whether they give
/// the same bits in every run.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/cuda/cudnn/cudnn_graph.h"
#include "ops/cuda/elementwise/checksum.h"

namespace convoy::ops::cuda {

/// The tensors of one pass of a convolution, filled with random numbers, and a workspace, all in device memory.
class MeasuringMemory {
 public:
  static constexpr int kMaxRuns = 256;

  MeasuringMemory(const CudnnGraphSpec& spec, std::int64_t workspace_bytes, Context& context);

  ConvolutionTensors tensors() const;
  void* workspace() const { return workspace_.data(); }

  /// The number of values of the tensor that the pass writes.
  std::int64_t result_count() const { return result_values_; }

  /// Sets all memory to `byte` whose content must not change the result: the tensor that the pass writes, the
  /// workspace, and the bytes after each tensor.
  void spoil(int byte) const;
  /// Enqueues the computation of the result's checksum, as that of run number `run` in [0, kMaxRuns). Does not wait for
  /// it.
  void note_checksum(int run) const;
  /// Waits for the checksums of the first `num_runs` runs. Returns whether they are all equal.
  bool are_the_same(int num_runs) const;

 private:
  struct Bytes {
    std::byte* data = nullptr;
    std::int64_t count = 0;
  };

  Buffer make(std::int64_t count, DataType type);
  void set(const Bytes& bytes, int byte) const;

  Context& context_;
  Buffer x_, w_, y_, workspace_;
  Buffer checksums_;           // a std::uint64_t for each run: the checksum of its result
  std::vector<Bytes> behind_;  // the bytes after each tensor
  std::int64_t result_values_ = 0;
  Bytes result_;  // the tensor that the pass writes
  Checksum add_checksum_;
};

}  // namespace convoy::ops::cuda
