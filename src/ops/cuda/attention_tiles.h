/// What the kernels of attention share: tiles of rows in shared memory, products of them by warps, and which weights
/// are dropped.
#pragma once

#include <cstdint>

#include "ops/cuda/element.h"
#include "ops/cuda/tensor_core.h"
#include "ops/draw_words.h"

namespace convoy::ops::cuda {

inline constexpr int kWarp = 32;
inline constexpr int kWarpRows = 16;  // what one warp's fragments cover
/// Of a result: as many columns as a lane has registers for beside its fragments, which float32 doubles.
template <typename T>
inline constexpr int kColumnChunk = sizeof(T) == 4 ? 32 : 64;

/// How large a block is and how many rows of the other side it holds at a time, so that all fits in 48 KB.
template <typename T, int kWidth>
struct TileShape {
  /// Of a row in shared memory: so many values more that lanes of one access meet different banks.
  static constexpr int kStride = kWidth + 16 / static_cast<int>(sizeof(T));
  static constexpr int kRowBytes = kStride * static_cast<int>(sizeof(T));
  static constexpr int kOthers = kRowBytes > 300 ? 16 : 32;
  static constexpr bool fits(int warps) { return 2 * (warps * kWarpRows + kOthers) * kRowBytes <= 46 << 10; }
  static constexpr int kWarps = fits(4) ? 4 : fits(2) ? 2 : 1;
  static constexpr int kThreads = kWarps * kWarp;
  /// That a multiprocessor's registers are asked to hold at a time: 85 for each thread.
  static constexpr int kBlocks = 768 / kThreads;
  static constexpr int kRows = kWarps * kWarpRows;
  static constexpr int kColumns = kWidth < kColumnChunk<T> ? kWidth : kColumnChunk<T>;
  static constexpr int kChunks = kWidth / kColumns;
};

/// Rows of one head in qkv (N,T,3,H,D) or y (N,T,H,D).
template <typename T>
struct HeadRows {
  T* first;
  std::int64_t stride;

  __device__ T* row(std::int64_t i) const { return first + i * stride; }
};

struct HeadIndex {
  std::int64_t n, h, num_heads, length;  ///< length: T

  __device__ std::int64_t head() const { return n * num_heads + h; }
};

template <int kWidth, typename T>
__device__ HeadRows<T> head_rows(T* data, const HeadIndex& at, int parts, int part) {
  const std::int64_t width = at.num_heads * kWidth, stride = parts * width;
  return {data + at.n * at.length * stride + part * width + at.h * kWidth, stride};
}

/// kCount rows from `begin` on into shared memory, by all threads of the block; zeros from row `end` on.
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

/// c[j] (16,8) = 16 own rows times 8 other rows each, two times 8 of them: scalar products over the whole width.
template <int kWidth, typename T, int kStride>
__device__ void multiply_rows(const T (*own)[kStride], const T (*other)[kStride], float (&c)[2][4]) {
  const int group = lane_group(), place = 2 * lane_place();
#pragma unroll
  for (int j = 0; j < 2; ++j) {
#pragma unroll
    for (float& value : c[j]) value = 0;
  }
  // Not more at a time, or the compiler keeps all own pairs in registers from one call to the next. In float32, two
  // would already be more than an Ampere's registers hold.
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

/// c (16,8) += weights (16,16) times one column of 16 other rows, this lane's of 8.
template <typename T, int kStride>
__device__ void multiply_columns(const Pair<T> (&weights)[4], const T (*other)[kStride], int column, float (&c)[4]) {
  const int place = 2 * lane_place();
  const auto pair = [&](int row) { return Pair<T>{other[row][column], other[row + 1][column]}; };
  const Pair<T> b[2] = {pair(place), pair(place + 8)};
  multiply_add(weights, b, c);
}

/// Which weights of kQueries x kKeys are kept, drawn by all threads of the block: eight neighbouring keys' bits in a
/// byte, a block of words.
template <int kQueries, int kKeys>
struct KeptWeights {
  static constexpr int kNumQueries = kQueries;
  static constexpr int kBlocks = kKeys / kDrawsOfBlock + 1;  ///< one more where draws begin in the middle of a block

  unsigned char bits[kQueries][kBlocks];
  unsigned char offsets[kQueries];  ///< where key 0 stands in its block

  /// Of query 0 and key 0: draw `first` of the layer; the next query's is `stride` later.
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
  __device__ bool at(int query, int key) const {
    const int offset = offsets[query] + key;
    return (bits[query][offset / kDrawsOfBlock] >> (offset % kDrawsOfBlock) & 1) != 0;
  }
};

}  // namespace convoy::ops::cuda
