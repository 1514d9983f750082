/// Copies beside the GPU's arithmetic.
#pragma once

#include "convoy/device/device.h"

#include "device/cuda/handles.h"

namespace convoy::cuda {

/// A stream of its own, so that the GPU's copy engines work while its multiprocessors do. Two events keep order:
///   arithmetic   ... mark() ................ join() waits for ended ...
///   lane             waits for marked, copies, ended
class StreamLane final : public CopyLane {
 public:
  explicit StreamLane(cudaStream_t arithmetic) : arithmetic_(arithmetic) {}
  /// Waits for a copy under way: it uses memory that its owner may give back next.
  ~StreamLane() override;

  void mark() override;
  void start_to_host(void* host, const void* device, std::int64_t size_bytes) override;
  void start_to_device(void* device, const void* host, std::int64_t size_bytes) override;
  bool done() override;
  void join() override;

 private:
  void start(void* to, const void* from, std::int64_t size_bytes, cudaMemcpyKind kind);

  cudaStream_t arithmetic_;
  Stream lane_ = make_stream();
  Event marked_ = make_event(Timing::kOff);
  Event ended_ = make_event(Timing::kOff);
};

}  // namespace convoy::cuda
