/// Divides an activation, as a matrix of N*H*W rows and C channels, among the thread blocks of batch normalisation's
/// kernels: into tiles of channels and slabs of rows. Adds up sums over the rows.
///
/// A block of kThreads threads is blockDim.x wide and blockDim.y high. Its width covers a tile of blockDim.x * kWidth
/// channels: 128 bytes of a row, or fewer if rows are short. Its height covers blockDim.y rows. A slab has kRows times
/// as many rows: every thread reads kRows rows at once. Everything follows from the shape alone, so the bits do not
/// depend on the GPU.
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

constexpr int kTileBytes = 128;  // bytes of each row that one thread block reads: a cache line

/// The number of thread blocks of a kernel that writes y or dx: enough to keep every multiprocessor busy, and few
/// enough that a thread loads the parameters of its channels once for 16 rows.
constexpr std::int64_t kResultBlocks = 2048;
constexpr std::int64_t kMaxResultRows = 16;

struct Rows {
  std::int64_t count;  ///< number of rows, N * H * W
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

  /// Returns a launch of about `num_blocks` thread blocks, for a kernel that sums over rows. All blocks of a tile have
  /// the same number of slabs, or one less.
  LaunchShape shape_of(int rows_at_once, std::int64_t num_blocks) const {
    const std::int64_t slabs_per_block = ceil_div(slabs(rows_at_once) * tiles, num_blocks);
    return shape_with(ceil_div(slabs(rows_at_once), slabs_per_block));
  }

  /// Returns the number of neighbouring slabs of a thread block in a kernel that writes y or dx.
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

/// Returns the first of the calling thread's kWidth channels. It may be C or more.
template <int kWidth>
__device__ int my_channel() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * kWidth;
}

/// Calls `body` for the calling thread's rows of a slab. If the slab is whole, it calls body(Width<kRows>{}, row) once:
/// the rows are row + i * blockDim.y, i < kRows. In the last, incomplete slab it calls body(Width<1>{}, row) for each
/// row.
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

/// Calls for_rows_of_slab() for each slab of the thread block, in a kernel that writes y or dx: there, a block has
/// slabs_per_block neighbouring slabs.
template <int kRows, typename Body>
__device__ void for_rows_of_block(const Rows& rows, int slabs_per_block, Body&& body) {
  const std::int64_t first = std::int64_t{blockIdx.y} * slabs_per_block;
  for (std::int64_t slab = first; slab < first + slabs_per_block; ++slab) {
    for_rows_of_slab<kRows>(slab, rows.count, body);
  }
}

// --- Sums over the rows --------------------------------------------------------------------------------------------

/// The order in which a kernel that sums over rows reads the slabs. Block b of a tile reads the slabs last - b,
/// last - b - B, ..., with B = gridDim.y. So all blocks move together from the end of the activation, which was written
/// last, to its beginning, where the next kernel starts to read. At both ends the data is in the L2 cache.
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
  int missing_rows;      ///< number of rows that the last slab, which block 0 reads, has fewer than the others
  int longer_blocks;     ///< number of blocks that read one slab more than the others: blocks 0, 1, ...
  std::int64_t shorter;  ///< number of rows of a block that is not longer

  __device__ int first_slab() const { return last - static_cast<int>(blockIdx.y); }
  __device__ std::int64_t first_row() const { return std::int64_t{first_slab()} * slab_rows; }
  __device__ std::int64_t rows_of_block(int block) const {
    return shorter + (block < longer_blocks ? slab_rows : 0) - (block == 0 ? missing_rows : 0);
  }
};

/// The partial sums of a thread block for a channel, aligned so that one access reads or writes them all.
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

/// Adds up the sums of a block's threads for each channel of the tile, in double and in the order of threadIdx.y.
/// Called by all threads of the block; each gives kWidth numbers for every sum. Thread t, if t is less than the number
/// of channels of the tile, gets the sums of channel t of the tile; other threads get 0.
template <int kWidth, int kSums>
__device__ DoubleSums<kSums> sum_columns(const float (&of_thread)[kSums][kWidth]) {
  alignas(32) __shared__ float shared[kSums][kThreads * kWidth];
#pragma unroll
  for (int s = 0; s < kSums; ++s) store<kWidth>(of_thread[s], shared[s] + my_thread() * kWidth);
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

/// Returns whether this thread block is the last of its tile to call this function. If so, it sees what the other
/// blocks of the tile wrote before their calls. `counters` has one counter per tile, which must be 0 at the first
/// launch and is 0 after each. Called by all threads.
__device__ inline bool is_last_of_tile(unsigned* counters) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (my_thread() == 0) is_last = atomicInc(counters + blockIdx.x, gridDim.y - 1) == gridDim.y - 1;
  __syncthreads();
  __threadfence();
  return is_last;
}

/// The number of partial sums that a thread of merge_blocks() loads at a time: each load is a round trip to the L2
/// cache.
constexpr int kPartialsAtOnce = 8;

/// Adds up term(b, partials[b][channel]) over the thread blocks b of this block's tile, in double and in an order that
/// depends on the shape alone. Called by all threads of the block. Thread t, if t is less than the number of channels
/// of the tile, gets the sums of channel t of the tile; the results of other threads mean nothing.
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
