/// Batch normalisation's view of an activation: rows of C channels, divided into tiles of channels and slabs of rows;
/// and the sums over the rows.
///
/// A block of kThreads threads is blockDim.x wide and blockDim.y high. Its width covers a tile of blockDim.x * kWidth
/// channels, 128 bytes of a row if C allows that. Its height covers blockDim.y rows. A slab has kRows times as many
/// rows: every thread reads kRows rows at once. Everything follows from the shape alone, so the bits do not depend on
/// the GPU.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "convoy/base/shape.h"

#include "ops/cuda/element.h"
#include "ops/cuda/image_extents.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kTileBytes = 128;  // of a row, for one block: a cache line

/// The number of blocks in a pass of results: enough to keep every multiprocessor busy, and few enough that a thread
/// uses its parameters for 16 rows.
constexpr std::int64_t kResultBlocks = 2048;
constexpr std::int64_t kMaxResultRows = 16;

struct Rows {
  std::int64_t count;  ///< N * H * W
  int channels;
};

/// The division of a matrix (N*H*W, C) among the blocks of a grid: tiles of channels along x, slabs of rows along y.
struct RowGrid {
  RowGrid(const Shape& x, int width, int value_bytes)
      : rows{x.pixels(), static_cast<int>(x.c)},
        block_width(std::min(std::bit_ceil(static_cast<unsigned>(x.c / width)),
                             static_cast<unsigned>(kTileBytes / (width * value_bytes)))),
        block_height(kThreads / block_width),
        tiles(static_cast<unsigned>(ceil_div(x.c, std::int64_t{block_width} * width))) {}

  Rows rows;
  unsigned block_width, block_height;
  unsigned tiles;

  std::int64_t slabs(int rows_at_once) const { return ceil_div(rows.count, std::int64_t{block_height} * rows_at_once); }

  /// A grid of about `num_blocks` blocks for all tiles. Each block has the same number of slabs, or one less.
  LaunchShape shape_of(int rows_at_once, std::int64_t num_blocks) const {
    const std::int64_t slabs_per_block = ceil_div(slabs(rows_at_once) * tiles, num_blocks);
    return shape_with(ceil_div(slabs(rows_at_once), slabs_per_block));
  }

  /// The number of neighbouring slabs of a block in a pass of results.
  int slabs_per_result_block(int rows_at_once) const {
    const std::int64_t all = slabs(rows_at_once), max_slabs = kMaxResultRows / rows_at_once;
    const std::int64_t wanted = std::clamp<std::int64_t>(all * tiles / kResultBlocks, 1, max_slabs);
    return static_cast<int>(std::max(wanted, ceil_div(all, kMaxGridHeight)));
  }
  LaunchShape results_shape(int rows_at_once) const {
    return shape_with(ceil_div(slabs(rows_at_once), slabs_per_result_block(rows_at_once)));
  }

  LaunchShape shape_with(std::int64_t blocks_per_tile) const {
    return {{tiles, static_cast<unsigned>(blocks_per_tile), 1}, {block_width, block_height, 1}};
  }
};

template <int kWidth>
__device__ int my_channel() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * kWidth;
}

/// Calls body(Width<kRows>{}, row) if the slab is whole: the thread's rows are row + i * blockDim.y, i < kRows. In the
/// last, incomplete slab it calls body(Width<1>{}, row) for each of the thread's rows.
template <int kRows, typename Body>
__device__ void for_rows_of_slab(std::int64_t slab, std::int64_t num_rows, Body&& body) {
  const std::int64_t begin = slab * kRows * blockDim.y, end = begin + std::int64_t{kRows} * blockDim.y;
  if (end <= num_rows) {
    body(Width<kRows>{}, begin + threadIdx.y);
  } else {
    for (std::int64_t row = begin + threadIdx.y; row < num_rows; row += blockDim.y) {
      body(Width<1>{}, row);
    }
  }
}

/// Calls for_rows_of_slab() for the block's slabs in a pass of results, in which a block has neighbouring slabs.
template <int kRows, typename Body>
__device__ void for_rows_of_block(const Rows& rows, int slabs_per_block, Body&& body) {
  const std::int64_t first = std::int64_t{blockIdx.y} * slabs_per_block;
  for (std::int64_t slab = first; slab < first + slabs_per_block; ++slab) {
    for_rows_of_slab<kRows>(slab, rows.count, body);
  }
}

// --- Sums over the rows --------------------------------------------------------------------------------------------

/// The order of the pass of sums. Block b of a tile sums the slabs last - b, last - b - B, ..., with B = gridDim.y. So
/// all blocks move together from the end of the activation, which was written last, to its beginning, where the second
/// pass starts. At both ends the data is in the L2 cache.
template <int kRows>
struct Sweep {
  __device__ explicit Sweep(const Rows& rows) {
    slab_rows = kRows * static_cast<int>(blockDim.y);
    const int slabs = static_cast<int>((rows.count + slab_rows - 1) / slab_rows), blocks = static_cast<int>(gridDim.y);
    last = slabs - 1;
    missing_rows = static_cast<int>(std::int64_t{slabs} * slab_rows - rows.count);
    longer_blocks = slabs % blocks;
    shorter = std::int64_t{slabs / blocks} * slab_rows;
  }

  int slab_rows, last;
  int missing_rows;      ///< number of rows that the last slab, block 0's, has less than the others
  int longer_blocks;     ///< number of the first blocks, which sum one slab more than the others
  std::int64_t shorter;  ///< number of rows of the other blocks

  __device__ int first_slab() const { return last - static_cast<int>(blockIdx.y); }
  __device__ std::int64_t first_row() const { return std::int64_t{first_slab()} * slab_rows; }
  __device__ std::int64_t rows_of_block(int block) const {
    return shorter + (block < longer_blocks ? slab_rows : 0) - (block == 0 ? missing_rows : 0);
  }
};

/// A block's partial sums of a channel, which are read and written by one access.
template <int kSums>
struct alignas(std::bit_ceil(sizeof(float) * kSums)) FloatSums {
  float of[kSums];
};
template <int kSums>
struct DoubleSums {
  double of[kSums];
};

template <int kSums>
__device__ DoubleSums<kSums> widened(const FloatSums<kSums>& sums) {
  DoubleSums<kSums> result;
#pragma unroll
  for (int s = 0; s < kSums; ++s) result.of[s] = double{sums.of[s]};
  return result;
}
template <int kSums>
__device__ FloatSums<kSums> narrowed(const DoubleSums<kSums>& sums) {
  FloatSums<kSums> result;
#pragma unroll
  for (int s = 0; s < kSums; ++s) result.of[s] = static_cast<float>(sums.of[s]);
  return result;
}

__device__ inline int my_thread() {
  return static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
}

/// Adds up the columns of a block from top to bottom, in double. Called by all threads, each with its float[kWidth] of
/// every sum. Thread t < tile gets the sums of column t.
template <int kWidth, typename... Sums>
__device__ DoubleSums<sizeof...(Sums)> sum_columns(const Sums&... of_thread) {
  constexpr int kSums = sizeof...(Sums);
  alignas(32) __shared__ float shared[kSums][kThreads * kWidth];
  int next = 0;
  (store<kWidth>(of_thread, shared[next++] + my_thread() * kWidth), ...);
  __syncthreads();
  const int tile = static_cast<int>(blockDim.x) * kWidth, height = static_cast<int>(blockDim.y);
  DoubleSums<kSums> sums = {};
  if (my_thread() < tile) {
#pragma unroll 8
    for (int row = 0; row < height; ++row) {
#pragma unroll
      for (int s = 0; s < kSums; ++s) sums.of[s] += double{shared[s][row * tile + my_thread()]};
    }
  }
  return sums;
}

/// Whether this block is the last of its tile to call this function: then it sees what the others wrote before. The
/// counter is 0 afterwards, for the next launch. Called by all threads.
__device__ inline bool is_last_of_tile(unsigned* counters) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (my_thread() == 0) is_last = atomicInc(counters + blockIdx.x, gridDim.y - 1) == gridDim.y - 1;
  __syncthreads();
  __threadfence();
  return is_last;
}

/// The number of reads in flight at a time: each takes a round trip to the L2 cache.
constexpr int kPartialsAtOnce = 8;

/// Adds up term(b, partials[b][channel]) over the tile's blocks b, in double and in an order that depends on the shape
/// alone. Called by all threads. Thread t < tile gets the sums of column t's channel.
template <int kWidth, int kSums, typename Term>
__device__ DoubleSums<kSums> merge_blocks(const FloatSums<kSums>* partials, const Rows& rows, Term&& term) {
  __shared__ double shared[kSums][kThreads];
  const int tile = static_cast<int>(blockDim.x) * kWidth, blocks = static_cast<int>(gridDim.y);
  const int channel = static_cast<int>(blockIdx.x) * tile + my_thread() % tile;
  DoubleSums<kSums> sums = {};
  if (channel < rows.channels) {
    const int step = kThreads / tile;
    for (int begin = my_thread() / tile; begin < blocks; begin += kPartialsAtOnce * step) {
      FloatSums<kSums> read[kPartialsAtOnce];
#pragma unroll
      for (int i = 0; i < kPartialsAtOnce; ++i)
        if (const int b = begin + i * step; b < blocks) read[i] = partials[std::int64_t{b} * rows.channels + channel];
#pragma unroll
      for (int i = 0; i < kPartialsAtOnce; ++i) {
        const int b = begin + i * step;
        if (b >= blocks) break;
        const DoubleSums<kSums> added = term(b, read[i]);
#pragma unroll
        for (int s = 0; s < kSums; ++s) sums.of[s] += added.of[s];
      }
    }
  }
#pragma unroll
  for (int s = 0; s < kSums; ++s) shared[s][my_thread()] = sums.of[s];
  __syncthreads();
  if (my_thread() < tile) {
    for (int t = my_thread() + tile; t < kThreads; t += tile) {
#pragma unroll
      for (int s = 0; s < kSums; ++s) sums.of[s] += shared[s][t];
    }
  }
  return sums;
}

}  // namespace

}  // namespace convoy::ops::cuda
