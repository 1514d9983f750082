/// Smart pointers that own CUDA streams, events and graphs.
#pragma once

#include <memory>
#include <type_traits>

#include <cuda_runtime.h>

#include "device/cuda/check.h"

namespace convoy::cuda {

/// Destroys a CUDA object by kDestroy. It ignores the status, since CUDA also returns errors of earlier asynchronous
/// work, which other calls report.
template <auto kDestroy>
struct Destroy {
  template <typename Handle>
  void operator()(Handle* handle) const noexcept {
    static_cast<void>(kDestroy(handle));
  }
};

template <typename Handle, auto kDestroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<kDestroy>>;

using Stream = Owned<cudaStream_t, &cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, &cudaEventDestroy>;
using Graph = Owned<cudaGraph_t, &cudaGraphDestroy>;
using GraphExec = Owned<cudaGraphExec_t, &cudaGraphExecDestroy>;

/// Makes a stream whose work may run at the same time as that of all other streams, including the default stream.
inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  CONVOY_CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

/// Whether an event records the time. An event without it (kOff) is cheaper and only orders work.
enum class Timing { kOff, kOn };

inline Event make_event(Timing timing) {
  cudaEvent_t event = nullptr;
  CONVOY_CHECK_CUDA(
      cudaEventCreateWithFlags(&event, timing == Timing::kOn ? cudaEventDefault : cudaEventDisableTiming));
  return Event(event);
}

}  // namespace convoy::cuda
