/// Products of small matrices that are in the caches, for attention: its factors are too small, and its results too
/// short-lived, for calls of oneDNN.
/// Include it, as simd.h, only in files that are compiled with -march=CONVOY_ARCH.
#pragma once

#include <bit>
#include <cstdint>

// The size is checked, too: Clang, which checks this code, has short vectors whatever it compiles for.
#if defined(__AVX512BF16__) && __BIGGEST_ALIGNMENT__ == 64
#define CONVOY_HAS_BF16_PRODUCTS
#include <immintrin.h>
#endif

#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

/// Matrix factors of floats. A word of 32 bits has kDepth values that are neighbours along the dimension of the sum;
/// here one.
struct FloatFactors {
  using Word = float;
  static constexpr std::int64_t kDepth = 1;

  [[gnu::always_inline]] static Vec multiply_add(Word a, const Word* b, Vec sum) { return sum + a * read<Vec>(b); }
};

#ifdef CONVOY_HAS_BF16_PRODUCTS
/// Matrix factors in bf16. A word of 32 bits has two values that are neighbours along the dimension of the sum. One
/// instruction multiplies both and adds to a sum in float32.
struct Bf16Factors {
  using Word = std::uint32_t;
  static constexpr std::int64_t kDepth = 2;

  [[gnu::always_inline]] static Vec multiply_add(Word a, const Word* b, Vec sum) {
    const auto pairs = [](WordVec words) { return std::bit_cast<__m512bh>(words); };
    return _mm512_dpbf16_ps(sum, pairs(WordVec{} + a), pairs(*reinterpret_cast<const WordVec*>(b)));
  }
};
#endif

/// The left matrix of a product. Its word (row, i), with i along the dimension of the sum, is at
/// words[row * row_stride + i * inner_stride].
template <typename Word>
struct LeftFactor {
  const Word* words;
  std::int64_t row_stride, inner_stride;
};

/// What a product does with the values that c had before.
enum class Earlier {
  kOverwritten,
  kContinued,  ///< each sum begins with the earlier value: the same bits as in one longer product
  kAdded       ///< the earlier value is added to the finished sum: shorter chains of additions, smaller errors
};

/// A product c (rows,columns) = [c +] a (rows,inner) b (inner,columns). b and c are stored row by row, 64-byte aligned;
/// rows of b are b_stride words apart. Each value is summed in the order of `inner`.
template <typename Word>
struct SmallProduct {
  LeftFactor<Word> a;
  const Word* b;
  std::int64_t b_stride;
  float* c;
  std::int64_t rows, inner, columns;  ///< rows: a multiple of 8; columns: a multiple of kLanes; inner: number of words
  Earlier c_values = Earlier::kOverwritten;
};

/// Computes a tile of c, `rows` rows of `vectors` vectors. Its sums stay in vector registers: at most 16 of them if the
/// processor has 32 registers, 8 if it has 16. On AVX-512, 8 rows of 2 vectors reach 102 to 115 GFLOP/s in products of
/// 32 by 32 by 256, where 115 are possible; 4 rows of 4 vectors reach 86.
template <typename Factors, int rows, int vectors>
[[gnu::always_inline]] inline void multiply_tile(const SmallProduct<typename Factors::Word>& product, std::int64_t row,
                                                 std::int64_t column) {
  using Word = typename Factors::Word;
  const auto [a_words, a_row, a_inner] = product.a;
  const std::int64_t columns = product.columns;
  const Word *a = a_words + row * a_row, *b = product.b + column;
  float* c = product.c + row * columns + column;
  Vec sums[rows][vectors];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v)
      sums[r][v] = product.c_values == Earlier::kContinued ? read<Vec>(c + r * columns + v * kLanes) : Vec{};
  }
  for (std::int64_t i = 0; i < product.inner; ++i, a += a_inner, b += product.b_stride) {
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[r][v] = Factors::multiply_add(a[r * a_row], b + v * kLanes, sums[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      float* const at = c + r * columns + v * kLanes;
      write(at, product.c_values == Earlier::kAdded ? read<Vec>(at) + sums[r][v] : sums[r][v]);
    }
  }
}

/// Computes all rows of c from `column` on, in tiles of `vectors` vectors, as long as whole tiles fit. Returns the
/// first column that is not computed.
template <typename Factors, int rows, int vectors>
[[gnu::always_inline]] inline std::int64_t multiply_columns(const SmallProduct<typename Factors::Word>& product,
                                                            std::int64_t column) {
  for (; column + vectors * kLanes <= product.columns; column += vectors * kLanes)
    for (std::int64_t row = 0; row < product.rows; row += rows)
      multiply_tile<Factors, rows, vectors>(product, row, column);
  return column;
}

template <typename Factors>
[[gnu::noinline]] void multiply(const SmallProduct<typename Factors::Word>& product) {
  constexpr int kRows = kVectorBytes == 64 ? 8 : 4;
  const std::int64_t column = multiply_columns<Factors, kRows, 2>(product, 0);
  multiply_columns<Factors, 8, 1>(product, column);
}

}  // namespace convoy::ops::cpu
