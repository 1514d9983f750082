/// Products of small bf16 matrices by the processor's tiles (AMX), 32 rows and 32 columns of the result at a time.
/// Include it, as simd.h, only in files that are compiled with -march=CONVOY_ARCH.
#pragma once

#include "ops/cpu/small_products.h"

// Like the products of vectors, these are not compiled when Clang checks this code.
#if defined(CONVOY_HAS_BF16_PRODUCTS) && defined(__AMX_BF16__) && defined(__AMX_TILE__)
#define CONVOY_HAS_TILES

#include <array>
#include <cstddef>
#include <cstdint>

namespace convoy::ops::cpu {

/// While an object exists, all tiles of the calling thread have 16 rows of 64 bytes. The destructor restores the shapes
/// that were set before, for example by oneDNN.
class TileShapes {
 public:
  TileShapes() {
    _tile_storeconfig(before_.data());
    alignas(64) std::array<std::byte, kBytes> own = {std::byte{1}};  // Intel's manual, table 3-10: palette 1 ...
    for (std::size_t tile = 0; tile < kTiles; ++tile) {
      own[16 + 2 * tile] = std::byte{64};  // ... bytes of a row ...
      own[48 + tile] = std::byte{16};      // ... rows
    }
    set(own);
  }
  ~TileShapes() { set(before_); }
  TileShapes(const TileShapes&) = delete;
  TileShapes& operator=(const TileShapes&) = delete;

 private:
  static constexpr std::size_t kBytes = 64, kTiles = 8;

  // The compiler does not know that the instruction reads more than a pointer's bytes.
  static void set(const std::array<std::byte, kBytes>& shapes) {
    asm volatile("" ::: "memory");
    _tile_loadconfig(shapes.data());
  }

  alignas(64) std::array<std::byte, kBytes> before_ = {};
};

// Functions for the instructions on tiles, with the tile's number as a template argument. The compiler's own macros
// need the number as a literal, and do not tell the compiler that loading a tile reads memory.
template <int tile>
[[gnu::always_inline]] inline void load_tile(const void* first, std::int64_t stride_bytes) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(first), "r"(stride_bytes), "n"(tile) : "memory");
}
template <int tile>
[[gnu::always_inline]] inline void store_tile(void* first, std::int64_t stride_bytes) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(first), "r"(stride_bytes), "n"(tile) : "memory");
}
template <int tile>
[[gnu::always_inline]] inline void clear_tile() {
  asm volatile("tilezero %%tmm%c0" : : "n"(tile));
}
/// Computes c += a b; the arguments are numbers of tiles.
template <int c, int a, int b>
[[gnu::always_inline]] inline void multiply_add_tiles() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "n"(c), "n"(a), "n"(b));
}

/// Computes 32 rows and 16 columns of c, from `row` and `column` on, in tiles c0 and c0 + 1. Tile b0 is for b, and
/// tiles 4 and 5 are for a.
template <int c0, int b0>
[[gnu::always_inline]] inline void multiply_two_tiles(const SmallProduct<std::uint32_t>& product, std::int64_t row,
                                                      std::int64_t column) {
  constexpr std::int64_t kWords = 16, kWordBytes = 4;  // of a tile's row; it has as many rows
  const std::int64_t a_stride = product.a.row_stride * kWordBytes, b_stride = product.b_stride * kWordBytes,
                     c_stride = product.columns * kWordBytes;
  const std::uint32_t *upper = product.a.words + row * product.a.row_stride,
                      *lower = upper + kWords * product.a.row_stride, *b = product.b + column;
  float *upper_c = product.c + row * product.columns + column, *lower_c = upper_c + kWords * product.columns;
  if (product.c_values != Earlier::kOverwritten) {
    load_tile<c0>(upper_c, c_stride);
    load_tile<c0 + 1>(lower_c, c_stride);
  } else {
    clear_tile<c0>();
    clear_tile<c0 + 1>();
  }
  for (std::int64_t i = 0; i < product.inner; i += kWords, b += kWords * product.b_stride) {
    load_tile<b0>(b, b_stride);
    load_tile<4>(upper + i, a_stride);
    multiply_add_tiles<c0, 4, b0>();
    load_tile<5>(lower + i, a_stride);
    multiply_add_tiles<c0 + 1, 5, b0>();
  }
  store_tile<c0>(upper_c, c_stride);
  store_tile<c0 + 1>(lower_c, c_stride);
}

/// Computes a product. The calling thread must have a TileShapes object. `rows` and `columns` must be multiples of 32,
/// `inner` a multiple of 16 words, and a.inner_stride must be 1. Each value is summed in the order of `inner`; the sum
/// begins with the earlier value of c if that is not overwritten. Two pairs of tiles alternate, so that some are stored
/// while others are multiplied.
[[gnu::noinline]] inline void multiply_by_tiles(const SmallProduct<std::uint32_t>& product) {
  for (std::int64_t row = 0; row < product.rows; row += 32) {
    for (std::int64_t column = 0; column < product.columns; column += 32) {
      multiply_two_tiles<0, 6>(product, row, column);
      multiply_two_tiles<2, 7>(product, row, column + 16);
    }
  }
}

}  // namespace convoy::ops::cpu

#endif
