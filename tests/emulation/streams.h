/// The interface between the halves of the emulated runtime: device.cpp is always the same; streams are threads
/// (streams.cpp) or queues that a test runs (parallel/stand_in/streams.cpp).
#pragma once

#include <functional>

#include "emulation/cuda_runtime_api.h"

namespace convoy::emulation {

/// Sets the number of this process's GPU, which is part of its uuid.
void set_gpu(int number);
/// Sets the driver's version, encoded like CUDART_VERSION, which is the initial value.
void set_driver_version(int version);
/// Stores a failure for cudaGetLastError.
cudaError_t report(cudaError_t status);

// The functions below are implemented by the streams.

/// Adds work, such as a kernel, to a stream. The null stream does its work at once.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);
/// Returns an error if this thread captures a stream; the capture then is invalid.
cudaError_t may_allocate();
/// Waits for all streams, as freeing memory does.
void finish_streams();

}  // namespace convoy::emulation
