/// Loops over an activation for batch normalisation. They see it as rows that are a whole number of vectors wide for
/// every number of channels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>

#include "convoy/base/shape.h"

#include "ops/cpu/parallel.h"
#include "ops/cpu/prefetch.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kTile = 64;              // columns that are merged at once; rows have multiples of it
constexpr std::int64_t kMaxRowsPerBlock = 128;  // at most 128 values are added in float32, then their sums in double
constexpr std::int64_t kMinRowsPerBlock = 32;
constexpr std::int64_t kBlocksForThreads = 16;  // enough for threads to share small activations evenly, too
constexpr int kRowsAtOnce = 8;                  // a column's parameters and sums are loaded once for these rows

/// (N,H,W,C) is one array of N*H*W*C values in which the channels repeat after C. Cut into rows of
/// width = lcm(C, kTile) values, every column belongs to one channel and every row starts on a vector:
///
///   C = 16:  | p0 p1 p2 p3 |          C = 3:  | p0 ... p63 |        C = 128:  | p0 |
///            | p4 p5 p6 p7 |                  | ...        |                  | p1 |
///
/// The last pixels, which do not fill a row (fewer than 64), are the tail. Rows are summed in blocks that depend on the
/// shape alone, so the bits do not depend on the number of threads.
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
  std::int64_t tail_begin() const { return rows * width; }  ///< index of the tail's first value in the activation
  std::int64_t tail_count() const { return tail_pixels * channels; }
  Range block(std::int64_t index) const { return part_of(rows, index, blocks); }

 private:
  static std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
};

/// Calls body.template operator()<kRows>(row) for groups of kRows = kRowsAtOnce rows from `row` on, then for each of
/// the other rows, with kRows = 1.
template <typename Body>
[[gnu::always_inline]] inline void for_groups_of(const Range& rows, const Body& body) {
  std::int64_t row = rows.begin;
  for (; row + kRowsAtOnce <= rows.end; row += kRowsAtOnce) body.template operator()<kRowsAtOnce>(row);
  for (; row < rows.end; ++row) body.template operator()<1>(row);
}

/// The arrays that a loop reads or writes and therefore prefetches. Null pointers are skipped.
template <typename T>
using PrefetchedArrays = std::initializer_list<const T*>;

/// Prefetches a part of the group of kRowsAtOnce rows after the group that begins with `row`. It is called once for
/// each vector of columns, which begins with column i. The processor's own prefetching does not follow several short
/// rows that are read at once. The data goes to the second-level cache, since two groups of wide rows do not fit into
/// the first.
template <typename T>
[[gnu::always_inline]] inline void prefetch_next_group(const RowLayout& layout, std::int64_t row, std::int64_t i,
                                                       PrefetchedArrays<T> arrays) {
  if (row + 2 * kRowsAtOnce > layout.rows) return;
  const std::int64_t begin = (row + kRowsAtOnce) * layout.width + i * kRowsAtOnce;
  for (const T* array : arrays)
    if (array != nullptr) prefetch<CacheLevel::kSecond>(array + begin, kRowsAtOnce * kLanes);
}

/// kSums arrays (blocks + 1, width) with the sums of each block of rows for each column. The last block is the tail.
template <std::size_t kSums>
using ColumnSums = std::array<float*, kSums>;

/// Sets the sums of block `index` to zero.
template <std::size_t kSums>
void clear_block(const RowLayout& layout, std::int64_t index, const ColumnSums<kSums>& sums) {
  for (float* sum : sums) std::fill_n(sum + index * layout.width, layout.width, 0.0f);
}

/// The numbers that one value, or each of a vector of values, adds to ColumnSums.
template <typename V, std::size_t kSums>
using Terms = std::array<V, kSums>;

/// Computes the sums of block `index` of rows, and prefetches `arrays`. terms(first_row, i, V{}) returns a function f,
/// for the block that begins with first_row and for column i. f(at) returns the Terms of the value at index `at` of the
/// activation; if V is Vec, the Terms of kLanes values, in the columns from i on.
template <std::size_t kSums, typename T, typename TermsOf>
void sum_block(const RowLayout& layout, std::int64_t index, const ColumnSums<kSums>& sums, PrefetchedArrays<T> arrays,
               const TermsOf& terms) {
  const std::int64_t width = layout.width;
  clear_block(layout, index, sums);
  ColumnSums<kSums> of_block = sums;
  for (float*& sum : of_block) sum += index * width;
  const Range rows = layout.block(index);
  for_groups_of(rows, [&]<int kRows>(std::int64_t row) {
    for (std::int64_t i = 0; i < width; i += kLanes) {
      if constexpr (kRows == kRowsAtOnce) prefetch_next_group(layout, row, i, arrays);
      const auto terms_at = terms(rows.begin, i, Vec{});
      Vec added[kSums][kRows];
      for (int r = 0; r < kRows; ++r) {
        const Terms<Vec, kSums> of_row = terms_at((row + r) * width + i);
        for (std::size_t s = 0; s < kSums; ++s) added[s][r] = of_row[s];
      }
      for (std::size_t s = 0; s < kSums; ++s)
        write(of_block[s] + i, read<Vec>(of_block[s] + i) + pairwise_sum<kRows>(added[s]));
    }
  });
}

/// Calls sum_block() for each block of the calling thread's part.
template <std::size_t kSums, typename T, typename TermsOf>
void sum_my_blocks(const RowLayout& layout, const ColumnSums<kSums>& sums, PrefetchedArrays<T> arrays,
                   const TermsOf& terms) {
  const Range blocks = my_part_of(layout.blocks);
  for (std::int64_t b = blocks.begin; b < blocks.end; ++b) sum_block(layout, b, sums, arrays, terms);
}

/// Calls sum_block() for each block of the calling thread's part. Thread 0 also writes the sums of the tail, whose
/// columns have one value or none.
template <std::size_t kSums, typename T, typename TermsOf>
void sum_my_blocks_and_tail(const RowLayout& layout, const ColumnSums<kSums>& sums, PrefetchedArrays<T> arrays,
                            const TermsOf& terms) {
  if (omp_get_thread_num() == 0) {
    const std::int64_t tail = layout.blocks * layout.width;
    clear_block(layout, layout.blocks, sums);
    for (std::int64_t i = 0; i < layout.tail_count(); ++i) {
      const Terms<float, kSums> only = terms(0, i, 0.0f)(layout.tail_begin() + i);
      for (std::size_t s = 0; s < kSums; ++s) sums[s][tail + i] = only[s];
    }
  }
  sum_my_blocks(layout, sums, arrays, terms);
}

/// Computes the results of some rows, and prefetches `arrays`. result(i, V{}) returns a function f for column i. f(at)
/// computes and stores the result at index `at` of the activation; if V is Vec, kLanes results, in the columns from i
/// on.
template <typename T, typename Result>
void compute_rows(const RowLayout& layout, const Range& rows, PrefetchedArrays<T> arrays, const Result& result) {
  for_groups_of(rows, [&]<int kRows>(std::int64_t row) {
    for (std::int64_t i = 0; i < layout.width; i += kLanes) {
      if constexpr (kRows == kRowsAtOnce) prefetch_next_group(layout, row, i, arrays);
      const auto compute = result(i, Vec{});
      for (int r = 0; r < kRows; ++r) compute((row + r) * layout.width + i);
    }
  });
}

/// Computes the results of the calling thread's rows by compute_rows(). It goes from the last row to the first, since
/// the values that the sums read last may still be in the cache. Thread 0 also computes the tail.
template <typename T, typename Result>
void compute_my_rows(const RowLayout& layout, PrefetchedArrays<T> arrays, const Result& result) {
  if (omp_get_thread_num() == 0)
    for (std::int64_t i = 0; i < layout.tail_count(); ++i) result(i, 0.0f)(layout.tail_begin() + i);
  const Range blocks = my_part_of(layout.blocks);
  for (std::int64_t b = blocks.end; b-- > blocks.begin;) compute_rows(layout, layout.block(b), arrays, result);
}

}  // namespace

}  // namespace convoy::ops::cpu
