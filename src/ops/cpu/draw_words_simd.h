/// Computes the random words of draw_words.h (Philox) a few vectors at a time. Dropout needs a random number for each
/// value or attention weight: computing them block by block would take longer than its arithmetic. Include it, as
/// simd.h, only in files that are compiled with -march=CONVOY_ARCH.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "convoy/ops/dropout.h"

#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

using LongVec = std::uint64_t __attribute__((vector_size(kVectorBytes)));

/// Returns, in each 64-bit lane, the product of the lower 32 bits of a and b. Their upper 32 bits may have any value.
/// GCC 12 does not find the instruction by itself.
template <typename V>
[[gnu::always_inline]] inline V product_of_lower_halves(V a, V b) {
#if defined(__AVX512F__)
  // The mask keeps all lanes, which costs nothing: for the plain intrinsic, GCC 12 warns of uninitialised operands (its
  // bug 105593).
  if constexpr (sizeof(V) == sizeof(__m512i))
    return std::bit_cast<V>(_mm512_maskz_mul_epu32(0xff, std::bit_cast<__m512i>(a), std::bit_cast<__m512i>(b)));
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == sizeof(__m256i))
    return std::bit_cast<V>(_mm256_mul_epu32(std::bit_cast<__m256i>(a), std::bit_cast<__m256i>(b)));
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(V) == sizeof(__m128i))
    return std::bit_cast<V>(_mm_mul_epu32(std::bit_cast<__m128i>(a), std::bit_cast<__m128i>(b)));
#endif
  return (a & 0xffffffffu) * (b & 0xffffffffu);
}

/// Returns a ^ b ^ c, in one instruction if the processor has it. GCC 12 does not find the instruction by itself.
[[gnu::always_inline]] inline LongVec exclusive_or(LongVec a, LongVec b, LongVec c) {
#if defined(__AVX512F__) && __BIGGEST_ALIGNMENT__ == 64
  return std::bit_cast<LongVec>(
      _mm512_ternarylogic_epi64(std::bit_cast<__m512i>(a), std::bit_cast<__m512i>(b), std::bit_cast<__m512i>(c), 0x96));
#else
  return a ^ b ^ c;
#endif
}

/// Moves the upper 32 bits of each 64-bit lane to its lower 32 bits. The upper 32 bits of the result have no meaning.
/// It is a shuffle, not a shift, since products and shifts wait for the same part of the processor.
template <int... i>
[[gnu::always_inline]] inline LongVec upper_halves_as_lower(LongVec v, std::integer_sequence<int, i...> /*words*/) {
  const auto words = std::bit_cast<WordVec>(v);
  return std::bit_cast<LongVec>(__builtin_shufflevector(words, words, (i | 1)...));
}
[[gnu::always_inline]] inline LongVec upper_halves_as_lower(LongVec v) {
  return upper_halves_as_lower(v, std::make_integer_sequence<int, int{kLanes}>{});
}

/// Returns the first (half = 0) or second (half = 1) half of the draws in a vector of words. A draw is a random number
/// of 16 bits; a word has two.
template <int half, int... i>
[[gnu::always_inline]] inline HalfVec draws_in(WordVec words, std::integer_sequence<int, i...> /*draws*/) {
  const auto draws = std::bit_cast<PairVec>(words);
  return __builtin_shufflevector(draws, draws, (half * int{kLanes} + i)...);
}
template <int half>
[[gnu::always_inline]] inline HalfVec draws_in(WordVec words) {
  return draws_in<half>(words, std::make_integer_sequence<int, int{kLanes}>{});
}

/// Returns v in each lane whose draw is at least the threshold, and 0 in the others.
[[gnu::always_inline]] inline Vec kept_values(HalfVec draws, std::uint16_t threshold, Vec v) {
#if defined(__AVX512BW__) && defined(__AVX512VL__) && __BIGGEST_ALIGNMENT__ == 64
  const __mmask16 kept =
      _mm256_cmpge_epu16_mask(std::bit_cast<__m256i>(draws), _mm256_set1_epi16(static_cast<std::int16_t>(threshold)));
  return _mm512_maskz_mov_ps(kept, v);
#else
  using ShortVec = std::int16_t __attribute__((vector_size(kVectorBytes / 2)));
  const auto kept = __builtin_convertvector(ShortVec(draws >= threshold), IntVec);
  return std::bit_cast<Vec>(std::bit_cast<IntVec>(v) & kept);
#endif
}

/// The random words of one layer for one micro-batch. Each word of 32 bits has two draws, random numbers of 16 bits,
/// the low half first.
class LayerWords {
 public:
  static constexpr std::int64_t kNumVectors = 4;                   ///< number of vectors that a call of draw() writes
  static constexpr std::int64_t kNumWords = kNumVectors * kLanes;  ///< number of words that a call of draw() writes
  static constexpr std::int64_t kNumBlocks = kNumWords / 4;        ///< number of Philox blocks of a call of draw()
  static constexpr std::int64_t kNumDraws = 2 * kNumWords;         ///< number of 16-bit draws in the words of a call

  LayerWords(const DrawKey& key, std::uint64_t layer)
      : micro_batch_(key.micro_batch & 0xffffffffu), step_low_(key.step & 0xffffffffu), step_high_(key.step >> 32) {
    const std::uint64_t mixed = key.seed ^ layer;
    auto low = static_cast<std::uint32_t>(mixed), high = static_cast<std::uint32_t>(mixed >> 32);
    for (RoundKey& round : round_keys_) {
      round = {low, high};
      low += 0x9E3779B9u;
      high += 0xBB67AE85u;
    }
  }

  /// Writes the layer's words from Philox block `block` on, in order: words 4 * block, ..., 4 * block + kNumWords - 1.
  [[gnu::always_inline]] void draw(std::uint32_t block, WordVec (&words)[kNumVectors]) const {
    // Each counter has a 64-bit lane: the product of a round then is one instruction. The two halves are independent,
    // so that one computes while the other waits for its products.
    Counters a = counters(block), b = counters(block + kNumBlocks / 2);
#pragma GCC unroll 10
    for (const RoundKey& key : round_keys_) {
      advance(key, a);
      advance(key, b);
    }
    write_in_order(a, words);
    write_in_order(b, words + kNumVectors / 2);
  }

 private:
  struct RoundKey {
    std::uint32_t low, high;
  };
  /// The counters of kLanes / 2 Philox blocks. A counter has four words of 32 bits, one in each vector, in the lower
  /// half of the block's 64-bit lane.
  struct Counters {
    LongVec w0, w1, w2, w3;
  };

  /// Returns, for each 64-bit lane, the index of the Philox block that it computes. Even lanes have the first half of
  /// the blocks and odd lanes the second half, so that write_in_order() can write them in order.
  template <std::uint64_t... i>
  [[gnu::always_inline]] static LongVec block_of_lane(std::integer_sequence<std::uint64_t, i...> /*lanes*/) {
    return LongVec{(i / 2 + i % 2 * (sizeof...(i) / 2))...};
  }
  [[gnu::always_inline]] Counters counters(std::uint32_t block) const {
    return {LongVec{} + block + block_of_lane(std::make_integer_sequence<std::uint64_t, kLanes / 2>{}),
            LongVec{} + micro_batch_, LongVec{} + step_low_, LongVec{} + step_high_};
  }

  /// Computes one round of Philox4x32 (Salmon et al. 2011) of all counters.
  [[gnu::always_inline]] static void advance(const RoundKey& key, Counters& c) {
    const auto k0 = std::bit_cast<LongVec>(WordVec{} + key.low), k1 = std::bit_cast<LongVec>(WordVec{} + key.high);
    const LongVec p0 = product_of_lower_halves(c.w0, LongVec{} + 0xD2511F53u);
    const LongVec p1 = product_of_lower_halves(c.w2, LongVec{} + 0xCD9E8D57u);
    c = {exclusive_or(upper_halves_as_lower(p1), c.w1, k0), p1, exclusive_or(upper_halves_as_lower(p0), c.w3, k1), p0};
  }

  /// Writes the words in the order of the blocks: the four words of each counter next to each other.
  template <int... i>
  [[gnu::always_inline]] static void write_in_order(const Counters& c, WordVec* to,
                                                    std::integer_sequence<int, i...> /*words*/) {
    const auto w0 = std::bit_cast<WordVec>(c.w0), w1 = std::bit_cast<WordVec>(c.w1), w2 = std::bit_cast<WordVec>(c.w2),
               w3 = std::bit_cast<WordVec>(c.w3);
    // (w0, w1) and (w2, w3) of each lane, then those of even lanes and of odd lanes: 4 i and 4 i + 2.
    const auto w01 = std::bit_cast<LongVec>(__builtin_shufflevector(w0, w1, (i % 2 * int{kLanes} + i / 2 * 2)...));
    const auto w23 = std::bit_cast<LongVec>(__builtin_shufflevector(w2, w3, (i % 2 * int{kLanes} + i / 2 * 2)...));
    interleave(w01, w23, to, std::make_integer_sequence<int, int{kLanes} / 2>{});
  }
  template <int... i>
  [[gnu::always_inline]] static void interleave(LongVec w01, LongVec w23, WordVec* to,
                                                std::integer_sequence<int, i...> /*lanes*/) {
    to[0] = std::bit_cast<WordVec>(__builtin_shufflevector(w01, w23, (i % 2 * int{kLanes} / 2 + i / 2 * 2)...));
    to[1] = std::bit_cast<WordVec>(__builtin_shufflevector(w01, w23, (i % 2 * int{kLanes} / 2 + i / 2 * 2 + 1)...));
  }
  [[gnu::always_inline]] static void write_in_order(const Counters& c, WordVec* to) {
    write_in_order(c, to, std::make_integer_sequence<int, int{kLanes}>{});
  }

  std::uint64_t micro_batch_, step_low_, step_high_;
  std::array<RoundKey, 10> round_keys_;
};

}  // namespace convoy::ops::cpu
