/// Checks calls of the CUDA runtime: CONVOY_CHECK_CUDA(call) throws an Error that shows the call if it fails.
#pragma once

#include <cuda_runtime.h>

namespace convoy::cuda {

/// Throws Error with a message of the form "cudaMalloc(...) failed: out of memory (file:line)".
[[noreturn]] void fail_call(cudaError_t status, const char* call, const char* file, int line);

}  // namespace convoy::cuda

#define CONVOY_CHECK_CUDA(call)                                                                            \
  do {                                                                                                     \
    const cudaError_t convoy_status = (call);                                                              \
    if (convoy_status != cudaSuccess) ::convoy::cuda::fail_call(convoy_status, #call, __FILE__, __LINE__); \
  } while (false)
