/// Batch normalisation's view of an activation: rows that are a whole number of vectors wide, whatever C is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "convoy/base/shape.h"

#include "ops/cpu/parallel.h"

namespace convoy::ops::cpu {

inline constexpr std::int64_t kTile = 64;              // columns that are merged at once; a row is a multiple of it
inline constexpr std::int64_t kMaxRowsPerBlock = 128;  // so many values are added in float32, all others in double
inline constexpr std::int64_t kMinRowsPerBlock = 32;
inline constexpr std::int64_t kBlocksForThreads = 16;  // small activations, too, can be shared out evenly

/// (N,H,W,C) is one array of N*H*W*C values in which the channels repeat after C. Cut into rows of
/// width = lcm(C, kTile) values, every column belongs to one channel and every row starts on a vector:
///
///   C = 16:  | p0 p1 p2 p3 |          C = 3:  | p0 ... p63 |        C = 128:  | p0 |
///            | p4 p5 p6 p7 |                  | ...        |                  | p1 |
///
/// What does not fill a row, fewer than 64 pixels, is the tail. Rows are summed in blocks that follow from the shape
/// alone, so the bits do not depend on the number of threads.
struct RowLayout {
  explicit RowLayout(const Shape& x)
      : channels(x.c),
        pixels(x.pixels()),
        width(std::lcm(x.c, kTile)),
        rows(pixels / (width / x.c)),
        tail_pixels(pixels % (width / x.c)),
        blocks(std::max(divide_up(rows, kMaxRowsPerBlock),
                        std::min(kBlocksForThreads, divide_up(rows, kMinRowsPerBlock)))) {}

  std::int64_t channels, pixels;
  std::int64_t width, rows;
  std::int64_t tail_pixels;
  std::int64_t blocks;

  std::int64_t tiles() const { return width / kTile; }
  std::int64_t tail_begin() const { return rows * width; }  ///< its first value
  std::int64_t tail_count() const { return tail_pixels * channels; }
  Range block(std::int64_t index) const { return part_of(rows, index, blocks); }

 private:
  static std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
};

}  // namespace convoy::ops::cpu
