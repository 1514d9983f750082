/// Launches kernels by a function of the CUDA runtime instead of <<<...>>>, so that a host compiler can compile the
/// calls, too, for tests that emulate a GPU.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "device/cuda/check.h"

namespace convoy::ops::cuda {

inline constexpr int kThreads = 256;  ///< number of threads of a block, unless a kernel needs another

struct LaunchShape {
  dim3 grid;
  dim3 block;
};

/// Launches a kernel on the stream. Each argument is converted to the type of the kernel's parameter, such as void* to
/// float*. Throws Error if the launch fails.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream, Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.stream = stream;
  CONVOY_CHECK_CUDA(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

/// Returns count / per_block, rounded up: the number of blocks of `per_block` elements that cover `count` elements.
constexpr std::int64_t ceil_div(std::int64_t count, std::int64_t per_block) {
  return (count + per_block - 1) / per_block;
}

/// Returns a launch with one thread for each of `count` indices, in blocks of kThreads threads.
inline LaunchShape shape_for(std::int64_t count) {
  return {dim3(static_cast<unsigned>(ceil_div(count, kThreads))), dim3(kThreads)};
}

/// Returns the calling thread's index in the grid of shape_for(). In the last block it may be `count` or more.
__device__ inline std::int64_t my_index() {
  return std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

}  // namespace convoy::ops::cuda
