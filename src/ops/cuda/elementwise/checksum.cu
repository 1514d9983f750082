/// The checksum of memory, without atomics: each block adds up every kMaxBlocks-th piece, then one warp adds up the
/// sums of the blocks. Sums modulo 2^64 are the same in any order.
#include <algorithm>

#include "ops/checksum_math.h"
#include "ops/cuda/elementwise/checksum.h"
#include "ops/cuda/launch.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kWarp = 32, kWarps = kThreads / kWarp, kMaxBlocks = 256, kUnroll = 4;
constexpr std::int64_t kWordsOfBlock = std::int64_t{kThreads} * kUnroll;

__device__ inline std::uint64_t sum_of_warp(std::uint64_t mine) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2)
    mine += __shfl_xor_sync(~0u, static_cast<unsigned long long>(mine), lanes);
  return mine;
}

/// Grid: ceil(words / 1024), at most 256. Block: 256. Shared memory: a sum for each warp. Reads each word once.
__global__ void __launch_bounds__(kThreads)
    sum_words(const unsigned char* data, std::int64_t size_bytes, std::uint64_t* parts) {
  __shared__ std::uint64_t sums[kWarps];
  const auto* words = reinterpret_cast<const std::uint32_t*>(data);
  const std::int64_t whole_words = size_bytes / 4, step = std::int64_t{gridDim.x} * kThreads;
  std::uint64_t mine = 0;
#pragma unroll kUnroll
  for (std::int64_t i = my_index(); i < whole_words; i += step) mine += checksum_of(i, words[i]);
  if (my_index() == 0 && size_bytes % 4 != 0) mine += checksum_of(whole_words, word_at(data, size_bytes, whole_words));
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  mine = sum_of_warp(mine);
  if (lane == 0) sums[warp] = mine;
  __syncthreads();
  if (warp != 0) return;
  mine = sum_of_warp(lane < kWarps ? sums[lane] : 0);
  if (lane == 0) parts[blockIdx.x] = mine;
}

/// Grid: 1. Block: 32.
__global__ void __launch_bounds__(kWarp) sum_parts(const std::uint64_t* parts, int num_parts, std::uint64_t* sum) {
  std::uint64_t mine = 0;
  for (int i = static_cast<int>(threadIdx.x); i < num_parts; i += kWarp) mine += parts[i];
  mine = sum_of_warp(mine);
  if (threadIdx.x == 0) *sum += mine;
}

}  // namespace

Checksum::Checksum(Context& context)
    : stream_(context.stream()), parts_(context.device(), kMaxBlocks * std::int64_t{sizeof(std::uint64_t)}) {}

void Checksum::add(const void* data, std::int64_t size_bytes, std::uint64_t* sum) const {
  if (size_bytes == 0) return;
  const auto num_blocks =
      static_cast<int>(std::clamp<std::int64_t>(ceil_div(size_bytes / 4, kWordsOfBlock), 1, kMaxBlocks));
  std::uint64_t* const parts = parts_.as<std::uint64_t>().data();
  launch(sum_words, {dim3(static_cast<unsigned>(num_blocks)), dim3(kThreads)}, stream_, data, size_bytes, parts);
  launch(sum_parts, {dim3(1), dim3(kWarp)}, stream_, parts, num_blocks, sum);
}

}  // namespace convoy::ops::cuda
