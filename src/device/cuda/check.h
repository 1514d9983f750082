/// Turns a failed call of the CUDA runtime into an Error that shows the call.
#pragma once

#include <cuda_runtime.h>

namespace convoy::cuda {

/// Throws Error with the message "cudaMalloc(...) failed: out of memory (file:line)".
[[noreturn]] void fail_call(cudaError_t status, const char* call, const char* file, int line);

}  // namespace convoy::cuda

#define CONVOY_CHECK_CUDA(call)                                                                            \
  do {                                                                                                     \
    const cudaError_t convoy_status = (call);                                                              \
    if (convoy_status != cudaSuccess) ::convoy::cuda::fail_call(convoy_status, #call, __FILE__, __LINE__); \
  } while (false)
