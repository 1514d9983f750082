/// The checksum of memory of the GPU: ElementwiseOps::add_checksum().
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace convoy::ops::cuda {

void add_checksum(cudaStream_t stream, const void* data, std::int64_t size_bytes, std::uint64_t* sum);

}  // namespace convoy::ops::cuda
