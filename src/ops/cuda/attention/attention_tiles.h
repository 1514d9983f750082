/// Functions that the kernels of attention share: tiles of rows in shared memory, products of tiles by warps, and the
/// dropout of attention weights.
#pragma once

#include <cstdint>

#include "ops/cuda/attention/tensor_core.h"
#include "ops/cuda/element.h"
#include "ops/draw_words.h"

namespace convoy::ops::cuda {

inline constexpr int kWarp = 32;
inline constexpr int kWarpRows = 16;  // rows that one warp's fragments cover
/// The number of columns of a result that a warp computes at a time. Each lane must have registers for them in addition
/// to its fragments, which take twice as many registers in float32.
template <typename T>
inline constexpr int kColumnChunk = sizeof(T) == 4 ? 32 : 64;

/// The sizes of an attention kernel for heads of kWidth values. A thread block computes the results of its own kRows
/// rows (queries or keys). For that it reads all rows of the other side, kOthers at a time. Two tiles of each fit into
/// 48 KB of shared memory.
template <typename T, int kWidth>
struct TileShape {
  /// The distance between rows in shared memory, in values. It is larger than kWidth, so that the lanes of a warp
  /// access different banks.
  static constexpr int kStride = kWidth + 16 / static_cast<int>(sizeof(T));
  static constexpr int kRowBytes = kStride * static_cast<int>(sizeof(T));
  static constexpr int kOthers = kRowBytes > 300 ? 16 : 32;
  static constexpr bool fits(int warps) { return 2 * (warps * kWarpRows + kOthers) * kRowBytes <= 46 << 10; }
  static constexpr int kWarps = fits(4) ? 4 : fits(2) ? 2 : 1;
  static constexpr int kThreads = kWarps * kWarp;
  /// The number of thread blocks that a multiprocessor should run at a time (__launch_bounds__). It leaves 85 registers
  /// for each thread.
  static constexpr int kBlocks = 768 / kThreads;
  static constexpr int kRows = kWarps * kWarpRows;
  static constexpr int kColumns = kWidth < kColumnChunk<T> ? kWidth : kColumnChunk<T>;
  static constexpr int kChunks = kWidth / kColumns;
};

/// The T rows of D values that belong to one sequence and one head, in qkv (N,T,3,H,D) or y (N,T,H,D).
template <typename T>
struct HeadRows {
  T* first;
  std::int64_t stride;

  __device__ T* row(std::int64_t i) const { return first + i * stride; }
};

/// A sequence n and a head h of it.
struct HeadIndex {
  std::int64_t n, h, num_heads, length;  ///< num_heads is H, length is T

  __device__ std::int64_t head() const { return n * num_heads + h; }
};

/// Returns the rows of a sequence and a head in `data` (N,T,parts,H,kWidth), of which `part` is one (query, key,
/// value).
template <int kWidth, typename T>
__device__ HeadRows<T> head_rows(T* data, const HeadIndex& at, int parts, int part) {
  const std::int64_t width = at.num_heads * kWidth, stride = parts * width;
  return {data + at.n * at.length * stride + part * width + at.h * kWidth, stride};
}

/// Loads the kCount rows from `begin` on into shared memory. Rows from `end` on are loaded as zeros. Called by all
/// threads of a block.
template <typename T, int kWidth, int kCount>
__device__ void load_tile(const HeadRows<const T>& from, std::int64_t begin, std::int64_t end,
                          T (&tile)[kCount][TileShape<T, kWidth>::kStride]) {
  constexpr int kPacks = kWidth / kWidest<T>;
  using Wide = Pack<T, kWidest<T>>;
  for (int i = static_cast<int>(threadIdx.x); i < kCount * kPacks; i += TileShape<T, kWidth>::kThreads) {
    const int row = i / kPacks, column = i % kPacks * kWidest<T>;
    Wide pack = {};
    if (begin + row < end) pack = *reinterpret_cast<const Wide*>(from.row(begin + row) + column);
    *reinterpret_cast<Wide*>(&tile[row][column]) = pack;
  }
}

/// Computes the products of rows, over all kWidth values: c[j] (16,8) = own rows 0..15 times other rows 8 j..8 j + 7,
/// for j = 0 and 1. Called by all lanes of a warp.
template <int kWidth, typename T, int kStride>
__device__ void multiply_rows(const T (*own)[kStride], const T (*other)[kStride], float (&c)[2][4]) {
  const int group = lane_group(), place = 2 * lane_place();
#pragma unroll
  for (int j = 0; j < 2; ++j) {
#pragma unroll
    for (float& value : c[j]) value = 0;
  }
  // If more were unrolled, the compiler would keep all own pairs in registers from one call to the next. In float32,
  // even two are too many for the registers of an Ampere.
#pragma unroll(kWidth <= 32 && sizeof(T) < 4 ? 2 : 1)
  for (int d = 0; d < kWidth; d += 16) {
    const auto pair = [&](const T* row, int at) { return *reinterpret_cast<const Pair<T>*>(row + d + place + at); };
    const Pair<T> a[4] = {pair(own[group], 0), pair(own[group + 8], 0), pair(own[group], 8), pair(own[group + 8], 8)};
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const T* row = other[8 * j + group];
      const Pair<T> b[2] = {pair(row, 0), pair(row, 8)};
      multiply_add(a, b, c[j]);
    }
  }
}

/// Adds the product of `weights` (16,16) and 8 columns of 16 rows of `other` to c (16,8). `column` is the column that
/// this lane reads. Called by all lanes of a warp.
template <typename T, int kStride>
__device__ void multiply_columns(const Pair<T> (&weights)[4], const T (*other)[kStride], int column, float (&c)[4]) {
  const int place = 2 * lane_place();
  const auto pair = [&](int row) { return Pair<T>{other[row][column], other[row + 1][column]}; };
  const Pair<T> b[2] = {pair(place), pair(place + 8)};
  multiply_add(weights, b, c);
}

/// Bits that tell which attention weights of kQueries x kKeys the dropout keeps. A byte has the bits of eight
/// neighbouring keys: their random numbers are one block of Philox (draw_words()).
template <int kQueries, int kKeys>
struct KeptWeights {
  static constexpr int kNumQueries = kQueries;
  /// Number of Philox blocks for a query. It is one more than kKeys / 8, since the query's random numbers may begin
  /// inside a block.
  static constexpr int kBlocks = kKeys / kDrawsOfBlock + 1;

  unsigned char bits[kQueries][kBlocks];
  unsigned char offsets[kQueries];  ///< index of key 0 within the first Philox block

  /// Sets the bits of all weights: a weight is kept if its random number is at least `threshold`. The weight of query 0
  /// and key 0 has random number `first` of the layer; that of the next query is `stride` numbers later. Called by all
  /// threads of a block, which must synchronise before at().
  __device__ void draw(const DrawKey& key, std::uint64_t layer, std::uint32_t threshold, std::int64_t first,
                       std::int64_t stride) {
    for (int i = static_cast<int>(threadIdx.x); i < kQueries * kBlocks; i += static_cast<int>(blockDim.x)) {
      const int query = i / kBlocks, block = i % kBlocks;
      const std::int64_t draw = first + query * stride;
      const DrawnWords words = draw_words(key, layer, static_cast<std::uint32_t>(draw / kDrawsOfBlock + block));
      unsigned kept = 0;
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        kept |= ((words[word] & 0xffffu) < threshold ? 0u : 1u) << (2 * word);
        kept |= (words[word] >> 16 < threshold ? 0u : 1u) << (2 * word + 1);
      }
      bits[query][block] = static_cast<unsigned char>(kept);
      if (block == 0) offsets[query] = static_cast<unsigned char>(draw % kDrawsOfBlock);
    }
  }
  /// Returns whether the weight is kept.
  __device__ bool at(int query, int key) const {
    const int offset = offsets[query] + key;
    return (bits[query][offset / kDrawsOfBlock] >> (offset % kDrawsOfBlock) & 1) != 0;
  }
};

}  // namespace convoy::ops::cuda
