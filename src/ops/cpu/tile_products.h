/// Matrix products of blocks by the processor's tiles (AMX): bf16, 32 rows of 32 values at a time.
/// Only for files compiled with -march=CONVOY_ARCH, as simd.h.
#pragma once

#include "ops/cpu/small_products.h"

// As the products of vectors: not where Clang checks this code.
#if defined(CONVOY_HAS_BF16_PRODUCTS) && defined(__AMX_BF16__) && defined(__AMX_TILE__)
#define CONVOY_HAS_TILES

#include <array>
#include <cstddef>
#include <cstdint>

namespace convoy::ops::cpu {

/// Sets all tiles of the calling thread to 16 rows of 64 bytes, as long as it lives; then what was set before, such as
/// by oneDNN, is set again.
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

/// Rows and columns a multiple of 32, inner one of 16 words, a.inner_stride 1. While TileShapes are set. Each value is
/// summed in the order of `inner`.
[[gnu::noinline]] inline void multiply_by_tiles(const SmallProduct<std::uint32_t>& product) {
  constexpr std::int64_t kWords = 16, kWordBytes = 4;  // of a tile's row; it has as many rows
  const std::int64_t a_stride = product.a.row_stride * kWordBytes, b_stride = product.b_stride * kWordBytes,
                     c_stride = product.columns * kWordBytes;
  asm volatile("" ::: "memory");  // nor does it know that loading tiles reads memory
  for (std::int64_t column = 0; column < product.columns; column += 2 * kWords) {
    for (std::int64_t row = 0; row < product.rows; row += 2 * kWords) {
      const std::uint32_t *a0 = product.a.words + row * product.a.row_stride, *a1 = a0 + kWords * product.a.row_stride,
                          *b = product.b + column;
      float *c0 = product.c + row * product.columns + column, *c1 = c0 + kWords * product.columns;
      if (product.add) {
        _tile_loadd(0, c0, c_stride);
        _tile_loadd(1, c0 + kWords, c_stride);
        _tile_loadd(2, c1, c_stride);
        _tile_loadd(3, c1 + kWords, c_stride);
      } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
      }
      for (std::int64_t i = 0; i < product.inner; i += kWords, b += kWords * product.b_stride) {
        _tile_loadd(6, b, b_stride);
        _tile_loadd(4, a0 + i, a_stride);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, b + kWords, b_stride);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, a1 + i, a_stride);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
      _tile_stored(0, c0, c_stride);
      _tile_stored(1, c0 + kWords, c_stride);
      _tile_stored(2, c1, c_stride);
      _tile_stored(3, c1 + kWords, c_stride);
    }
  }
}

}  // namespace convoy::ops::cpu

#endif
