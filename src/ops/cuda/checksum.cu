/// One block adds up a whole tensor: without atomics, and rarely asked for.
#include "ops/checksum_math.h"
#include "ops/cuda/checksum.h"
#include "ops/cuda/launch.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kWarp = 32, kSumThreads = 1024, kWarps = kSumThreads / kWarp;

__device__ inline std::uint64_t sum_of_warp(std::uint64_t mine) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2)
    mine += __shfl_xor_sync(~0u, static_cast<unsigned long long>(mine), lanes);
  return mine;
}

/// Grid: 1. Block: 1024. Shared memory: a sum for each warp. Reads each word once.
__global__ void __launch_bounds__(kSumThreads)
    sum_words(const unsigned char* data, std::int64_t size_bytes, std::uint64_t* sum) {
  __shared__ std::uint64_t sums[kWarps];
  const auto* words = reinterpret_cast<const std::uint32_t*>(data);
  const std::int64_t whole_words = size_bytes / 4;
  std::uint64_t mine = 0;
#pragma unroll 4
  for (std::int64_t i = threadIdx.x; i < whole_words; i += kSumThreads) mine += checksum_of(i, words[i]);
  if (threadIdx.x == 0 && size_bytes % 4 != 0) mine += checksum_of(whole_words, word_at(data, size_bytes, whole_words));
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  mine = sum_of_warp(mine);
  if (lane == 0) sums[warp] = mine;
  __syncthreads();
  if (warp != 0) return;
  mine = sum_of_warp(sums[lane]);
  if (lane == 0) *sum += mine;
}

}  // namespace

void add_checksum(cudaStream_t stream, const void* data, std::int64_t size_bytes, std::uint64_t* sum) {
  if (size_bytes == 0) return;
  launch(sum_words, {dim3(1), dim3(kSumThreads)}, stream, data, size_bytes, sum);
}

}  // namespace convoy::ops::cuda
