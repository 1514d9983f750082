/// Memory on which the engines of a convolution's pass are compared: by time, and by whether they give the same bits
/// again.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/cuda/checksum.h"
#include "ops/cuda/cudnn_graph.h"

namespace convoy::ops::cuda {

/// All tensors of a pass and a workspace.
class MeasuringMemory {
 public:
  static constexpr int kMaxRuns = 256;

  MeasuringMemory(const CudnnGraphSpec& spec, std::int64_t workspace_bytes, Context& context);

  ConvolutionTensors tensors() const;
  void* workspace() const { return workspace_.data(); }

  /// The number of values that the pass writes.
  std::int64_t result_count() const { return result_values_; }

  /// Sets each byte that the pass must write or must not read: its result, the workspace, and the bytes after each
  /// tensor.
  void spoil(int byte) const;
  /// Enqueues the computation of the result's checksum of run `run`, from 0 to kMaxRuns - 1, without waiting for it.
  void note_checksum(int run) const;
  /// Whether the first `num_runs` checksums are the same; waits for them.
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
  Buffer checksums_;           // std::uint64_t: the checksum of each run
  std::vector<Bytes> behind_;  // the bytes after each tensor
  std::int64_t result_values_ = 0;
  Bytes result_;  // the tensor that the pass writes
  Checksum add_checksum_;
};

}  // namespace convoy::ops::cuda
