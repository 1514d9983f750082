/// What the emulated runtime's halves ask of each other: device.cpp is one for all, its streams are threads
/// (streams.cpp) or queues that a test pumps (parallel/stand_in/streams.cpp).
#pragma once

#include <functional>

#include "emulation/cuda_runtime_api.h"

namespace convoy::emulation {

/// The number of this process's GPU, which its uuid tells.
void set_gpu(int number);
/// As CUDART_VERSION has it, which it is at first.
void set_driver_version(int version);
/// Remembers a failure for cudaGetLastError.
cudaError_t report(cudaError_t status);

// Of the streams.

/// Work in a stream's order: a kernel, say. The null stream's is done at once.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);
/// Not while this thread captures, which then is spoilt.
cudaError_t may_allocate();
/// What giving memory back waits for.
void finish_streams();

}  // namespace convoy::emulation
