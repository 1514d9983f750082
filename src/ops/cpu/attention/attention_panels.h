/// Panels: the layouts in which a thread copies the matrices of attention (query, key, value, dy) to its scratch
/// memory, as factors of the products in small_products.h: row by row, transposed, or interleaved along the dimension
/// of the sum. Include it, as simd.h, only in files that are compiled with -march=CONVOY_ARCH.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "convoy/base/shape.h"

#include "ops/cpu/attention/tile_products.h"
#include "ops/cpu/lanes_simd.h"
#include "ops/cpu/simd.h"
#include "ops/cpu/small_products.h"

namespace convoy::ops::cpu {

/// The rows of one head of one sequence in a tensor: `num` rows of `width` values, `stride` values apart.
template <typename T>
struct HeadRows {
  T* first;
  std::int64_t stride, num, width;

  T* row(std::int64_t i) const { return first + i * stride; }
  HeadRows part(std::int64_t begin, std::int64_t count) const { return {row(begin), stride, count, width}; }
};

/// The constants for panels whose products are computed with vector instructions.
template <typename Factors>
struct VectorProducts : Factors {
  /// Number of queries that a thread computes at a time. Up to T = 2000 their rows of z stay in the second-level cache.
  static constexpr std::int64_t kQueries = 32;
  static constexpr std::int64_t kQueryAlignment = 8, kKeyAlignment = 16;  ///< queries, keys are padded to multiples
  /// Whether the products that are summed over queries (dkey, dvalue) are computed as (width, keys) instead of
  /// (keys, width), because products cannot read their left factor transposed.
  static constexpr bool kSumsOverQueriesLieAcross = false;
  struct ThreadState {};  ///< an object that a thread holds while it calls multiply()

  static void multiply(const SmallProduct<typename Factors::Word>& product) { cpu::multiply<Factors>(product); }
};

/// Panels of tensors that are stored as T, whose products are computed with float32 factors. Factors that attention
/// computes (weights and their gradients) are rounded to T and widened again.
template <typename T>
struct FloatPanels : VectorProducts<FloatFactors> {
  using Stored = T;

  /// Returns the kLanes words of a row from word i on. A word has kDepth values.
  [[gnu::always_inline]] static WordVec words(const T* row, std::int64_t i) {
    return std::bit_cast<WordVec>(read<Vec>(row + i));
  }
  /// Returns the values from d on of kDepth rows, interleaved. With a depth of 1 nothing has to be done.
  [[gnu::always_inline]] static WordVec interleaved(const T* const (&rows)[1], std::int64_t d) {
    return words(rows[0], d);
  }
  [[gnu::always_inline]] static Vec rounded(Vec v) {
    if constexpr (sizeof(T) == 4) return v;
    return widened(rounded_to_bf16(v));
  }
  /// Stores the values k, ..., k + kLanes - 1 of a row as factors of sums along the row.
  [[gnu::always_inline]] static void store_along_row(float* row, std::int64_t k, Vec v) { write(row + k, rounded(v)); }
  /// Stores the values k, ..., k + kLanes - 1 of kDepth neighbouring rows, interleaved, as factors of sums over rows.
  [[gnu::always_inline]] static void store_across_rows(float* row, std::int64_t k, const Vec (&v)[1]) {
    write(row + k, rounded(v[0]));
  }
};

#ifdef CONVOY_HAS_BF16_PRODUCTS
/// Panels of tensors that are stored in bf16, whose products multiply two bf16 values per word.
struct Bf16Panels : VectorProducts<Bf16Factors> {
  using Stored = Bf16;

  [[gnu::always_inline]] static WordVec words(const Bf16* row, std::int64_t i) {
    using LooseWordsAt = std::uint32_t __attribute__((vector_size(kVectorBytes), may_alias, aligned(2)));
    return *reinterpret_cast<const LooseWordsAt*>(row + 2 * i);
  }
  template <int... i>
  [[gnu::always_inline]] static WordVec zipped(PairVec halves, std::integer_sequence<int, i...> /*halves*/) {
    return std::bit_cast<WordVec>(__builtin_shufflevector(halves, halves, (i / 2 + i % 2 * int{kLanes})...));
  }
  [[gnu::always_inline]] static WordVec interleaved(const Bf16* const (&rows)[2], std::int64_t d) {
    const auto halves = [d](const Bf16* row) { return HalfVec(*reinterpret_cast<const HalfVecAt*>(row + d)); };
    return cpu::zipped(halves(rows[0]), halves(rows[1]));
  }
  // Rounds by the processor's instruction, which takes values below 2^-126 as 0.
  [[gnu::always_inline]] static void store_along_row(float* row, std::int64_t k, Vec v) {
    const auto halves = std::bit_cast<HalfVec>(_mm512_cvtneps_pbh(v));
    *reinterpret_cast<HalfVecAt*>(reinterpret_cast<Bf16*>(row) + k) = halves;
  }
  [[gnu::always_inline]] static void store_across_rows(float* row, std::int64_t k, const Vec (&v)[2]) {
    const auto halves = std::bit_cast<PairVec>(_mm512_cvtne2ps_pbh(v[1], v[0]));
    write(row + k, std::bit_cast<Vec>(zipped(halves, std::make_integer_sequence<int, 2 * int{kLanes}>{})));
  }
};
#endif

#ifdef CONVOY_HAS_TILES
/// Panels of tensors that are stored in bf16, whose products are computed by the processor's tiles (AMX).
struct TilePanels : Bf16Panels {
  static constexpr std::int64_t kQueries = 64;  ///< more than for vectors, since tiles spend most time moving sums
  static constexpr std::int64_t kQueryAlignment = 32, kKeyAlignment = 32;
  static constexpr bool kSumsOverQueriesLieAcross = true;
  using ThreadState = TileShapes;

  static void multiply(const SmallProduct<Word>& product) { multiply_by_tiles(product); }
};
#endif

/// Divides the memory of one thread into pieces that begin at multiples of 64 bytes. If it is created from null, it
/// only counts the bytes.
class Pieces {
 public:
  explicit Pieces(std::byte* begin) : begin_(begin) {}

  template <typename Word>
  Word* take(std::int64_t count) {
    Word* piece = begin_ == nullptr ? nullptr : reinterpret_cast<Word*>(begin_ + size_bytes_);
    size_bytes_ += round_up(count * static_cast<std::int64_t>(sizeof(Word)), 64);
    return piece;
  }
  std::int64_t size_bytes() const { return size_bytes_; }

 private:
  std::byte* begin_;
  std::int64_t size_bytes_ = 0;
};

/// Copies the rows of `from` to `to` (padded, width / depth), word by word. Rows from from.num on are zeros.
template <typename Panels>
void pack_rows(const HeadRows<const typename Panels::Stored>& from, std::int64_t padded, typename Panels::Word* to) {
  const std::int64_t words = from.width / Panels::kDepth;
  auto* out = reinterpret_cast<float*>(to);
  for (std::int64_t row = 0; row < padded; ++row) {
    for (std::int64_t i = 0; i < words; i += kLanes) {
      const WordVec v = row < from.num ? Panels::words(from.row(row), i) : WordVec{};
      write(out + row * words + i, std::bit_cast<Vec>(v));
    }
  }
}

/// Writes the transpose of what pack_rows() writes to `to` (width / depth, padded). `padded` is a multiple of kLanes.
template <typename Panels>
void pack_transposed(const HeadRows<const typename Panels::Stored>& from, std::int64_t padded,
                     typename Panels::Word* to) {
  const std::int64_t words = from.width / Panels::kDepth;
  auto* out = reinterpret_cast<float*>(to);
  for (std::int64_t row = 0; row < padded; row += kLanes) {
    for (std::int64_t i = 0; i < words; i += kLanes) {
      WordVec block[kLanes];
#pragma GCC unroll 16
      for (std::int64_t r = 0; r < kLanes; ++r)
        block[r] = row + r < from.num ? Panels::words(from.row(row + r), i) : WordVec{};
      transpose(block);
#pragma GCC unroll 16
      for (std::int64_t r = 0; r < kLanes; ++r) write(out + (i + r) * padded + row, std::bit_cast<Vec>(block[r]));
    }
  }
}

/// Writes the rows of `from` to `to` (padded / depth, width), as factors of sums over rows: each word has the values of
/// `depth` neighbouring rows. Rows from from.num on are zeros.
template <typename Panels>
void pack_interleaved(const HeadRows<const typename Panels::Stored>& from, std::int64_t padded,
                      typename Panels::Word* to) {
  constexpr std::int64_t kDepth = Panels::kDepth;
  using T = typename Panels::Stored;
  alignas(64) static constexpr T kZeros[128] = {};
  auto* out = reinterpret_cast<float*>(to);
  for (std::int64_t row = 0; row < padded; row += kDepth, out += from.width) {
    const T* rows[kDepth];
    for (std::int64_t r = 0; r < kDepth; ++r) rows[r] = row + r < from.num ? from.row(row + r) : kZeros;
    for (std::int64_t d = 0; d < from.width; d += kLanes)
      write(out + d, std::bit_cast<Vec>(Panels::interleaved(rows, d)));
  }
}

/// Writes the transpose of what pack_interleaved() writes to `to` (width, padded / depth). `padded` is a multiple of
/// depth * kLanes.
template <typename Panels>
void pack_across(const HeadRows<const typename Panels::Stored>& from, std::int64_t padded, typename Panels::Word* to) {
  constexpr std::int64_t kDepth = Panels::kDepth;
  using T = typename Panels::Stored;
  alignas(64) static constexpr T kZeros[128] = {};
  auto* out = reinterpret_cast<float*>(to);
  for (std::int64_t word = 0; word < padded / kDepth; word += kLanes) {
    for (std::int64_t d = 0; d < from.width; d += kLanes) {
      WordVec block[kLanes];
      for (std::int64_t i = 0; i < kLanes; ++i) {
        const T* rows[kDepth];
        for (std::int64_t r = 0; r < kDepth; ++r) {
          const std::int64_t row = (word + i) * kDepth + r;
          rows[r] = row < from.num ? from.row(row) : kZeros;
        }
        block[i] = Panels::interleaved(rows, d);
      }
      transpose(block);
#pragma GCC unroll 16
      for (std::int64_t i = 0; i < kLanes; ++i)
        write(out + (d + i) * (padded / kDepth) + word, std::bit_cast<Vec>(block[i]));
    }
  }
}

/// Writes the columns of the row-major matrix `from` (width, padded), multiplied by `factor`, to the rows of `to`.
/// `padded` is a multiple of kLanes and at least to.num.
template <typename T>
void store_scaled_across(const float* from, std::int64_t padded, float factor, const HeadRows<T>& to) {
  for (std::int64_t row = 0; row < to.num; row += kLanes) {
    for (std::int64_t d = 0; d < to.width; d += kLanes) {
      WordVec block[kLanes];
#pragma GCC unroll 16
      for (std::int64_t i = 0; i < kLanes; ++i)
        block[i] = std::bit_cast<WordVec>(read<Vec>(from + (d + i) * padded + row));
      transpose(block);
      for (std::int64_t i = 0; i < std::min(kLanes, to.num - row); ++i)
        write(to.row(row + i) + d, factor * std::bit_cast<Vec>(block[i]));
    }
  }
}

/// Writes the rows of the row-major matrix `from` (num, width), multiplied by `factor`, to the rows of `to`.
template <typename T>
void store_scaled(const float* from, float factor, const HeadRows<T>& to) {
  for (std::int64_t row = 0; row < to.num; ++row) {
    for (std::int64_t d = 0; d < to.width; d += kLanes)
      write(to.row(row) + d, factor * read<Vec>(from + row * to.width + d));
  }
}

template <typename T>
void store_zeros(const HeadRows<T>& to) {
  for (std::int64_t row = 0; row < to.num; ++row) std::fill_n(to.row(row), to.width, T{});
}

}  // namespace convoy::ops::cpu
