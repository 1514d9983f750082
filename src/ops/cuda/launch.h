/// Starts kernels, by the runtime's own call: the host compiler of the emulation tests reads it too.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "device/cuda/check.h"

namespace convoy::ops::cuda {

struct LaunchShape {
  dim3 grid;
  dim3 block;
};

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

}  // namespace convoy::ops::cuda
