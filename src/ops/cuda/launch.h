/// Starts kernels by a function of the CUDA runtime, which the host compiler of the emulation tests can compile, too.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "device/cuda/check.h"

namespace convoy::ops::cuda {

inline constexpr int kThreads = 256;  ///< threads of a block, unless a kernel needs another number

struct LaunchShape {
  dim3 grid;
  dim3 block;
};

/// Launches a kernel. A contract's untyped pointers are converted to those of the kernel.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream, Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.stream = stream;
  CONVOY_CHECK_CUDA(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

/// The number of blocks of `per_block` that cover `count`.
constexpr std::int64_t ceil_div(std::int64_t count, std::int64_t per_block) {
  return (count + per_block - 1) / per_block;
}

/// A grid with one thread for each of `count` indices, in blocks of kThreads.
inline LaunchShape shape_for(std::int64_t count) {
  return {dim3(static_cast<unsigned>(ceil_div(count, kThreads))), dim3(kThreads)};
}

/// The calling thread's index in the grid of shape_for(). In the last block it may be `count` or more.
__device__ inline std::int64_t my_index() {
  return std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

}  // namespace convoy::ops::cuda
