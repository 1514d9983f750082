/// The message of a failed call of the CUDA runtime.
#include "device/cuda/check.h"

#include "convoy/base/error.h"

namespace convoy::cuda {

void fail_call(cudaError_t status, const char* call, const char* file, int line) {
  cudaGetLastError();  // cleared: the error is reported here, not by the next call
  fail("{} failed: {} ({}:{})", call, cudaGetErrorString(status), file, line);
}

}  // namespace convoy::cuda
