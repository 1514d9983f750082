/// Starts kernels, by the runtime's own call: the host compiler of the emulation tests reads it too.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "device/cuda/check.h"

namespace convoy::ops::cuda {

inline constexpr int kThreads = 256;  ///< of a block, where nothing speaks for another number

struct LaunchShape {
  dim3 grid;
  dim3 block;
};

/// A contract's untyped pointers become those of the kernel.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream, Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.stream = stream;
  CONVOY_CHECK_CUDA(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

/// Blocks of `per_block` that cover `count`.
constexpr std::int64_t ceil_div(std::int64_t count, std::int64_t per_block) {
  return (count + per_block - 1) / per_block;
}

/// A thread for each of `count`, in blocks of kThreads.
inline LaunchShape shape_for(std::int64_t count) {
  return {dim3(static_cast<unsigned>(ceil_div(count, kThreads))), dim3(kThreads)};
}

/// Which of them the calling thread is; the last block may have some beyond `count`.
__device__ inline std::int64_t my_index() {
  return std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

}  // namespace convoy::ops::cuda
