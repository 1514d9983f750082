/// Computes the weights of attention from rows of z = query key^T, and the gradients of z in backward. Dropout sets
/// some weights to 0. Include it, as simd.h, only in files that are compiled with -march=CONVOY_ARCH.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "convoy/ops/attention.h"

#include "ops/cpu/attention/exp_simd.h"
#include "ops/cpu/draw_words_simd.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

inline constexpr int kRowsAtATime = 4;  ///< number of rows of z that weigh_rows() computes at a time
inline constexpr float kLog2E = std::numbers::log2e_v<float>;

/// The random numbers (draws, 16 bits each) that decide which weights of a row of attention are dropped. They are drawn
/// for one row at a time.
class RowDraws {
 public:
  RowDraws(const AttentionSpec& spec, const DrawKey& key)
      : words_(key, spec.layer), threshold_(static_cast<std::uint16_t>(spec.dropout_threshold())) {}

  /// Returns the number of draws for which the scratch memory of draw() must have room, for `count` weights. It is
  /// larger than `count`: the first Philox block may begin with 7 other draws, and the last vectors may go past the
  /// end.
  static constexpr std::int64_t scratch_draws(std::int64_t count) {
    return count + kDrawsOfBlock - 1 + LayerWords::kNumDraws;
  }

  /// Writes the draws first, ..., first + count - 1 of the layer, and some more, to `scratch`. Returns a pointer to
  /// draw `first` in it.
  const std::uint16_t* draw(std::int64_t first, std::int64_t count, std::uint16_t* scratch) const {
    const std::int64_t offset = first % kDrawsOfBlock;
    auto block = static_cast<std::uint32_t>(first / kDrawsOfBlock);
    for (std::int64_t i = 0; i < offset + count; i += LayerWords::kNumDraws, block += LayerWords::kNumBlocks) {
      WordVec drawn[LayerWords::kNumVectors];
      words_.draw(block, drawn);
#pragma GCC unroll 4
      for (std::int64_t v = 0; v < LayerWords::kNumVectors; ++v)
        *reinterpret_cast<WordsAt*>(scratch + i + 2 * v * kLanes) = drawn[v];
    }
    return scratch + offset;
  }

  /// Returns the lanes of v whose weights are kept, and 0 in the others. `draws` has a draw for each lane.
  [[gnu::always_inline]] Vec kept(const std::uint16_t* draws, Vec v) const {
    return kept_values(*reinterpret_cast<const HalfVecAt*>(draws), threshold_, v);
  }

 private:
  using WordsAt = std::uint32_t __attribute__((vector_size(kVectorBytes), may_alias));

  LayerWords words_;
  std::uint16_t threshold_;
};

/// Takes the place of RowDraws if attention has no dropout: every weight is kept.
struct NoDraws {
  static const std::uint16_t* draw(std::int64_t /*first*/, std::int64_t /*count*/, std::uint16_t* scratch) {
    return scratch;
  }
  [[gnu::always_inline]] static Vec kept(const std::uint16_t* /*draws*/, Vec v) { return v; }
};

/// Sets a row of z to -infinity for the padding after the last key. The weight there becomes 2^-125, which adds
/// nothing, since the padding of `value` is 0.
inline void mask_tail(float* z, std::int64_t num_keys, std::int64_t padded) {
  std::fill(z + num_keys, z + padded, -INFINITY);
}

/// Overwrites kRowsAtATime neighbouring rows of z by w = exp(scale (z - max z)), with 0 for dropped weights, in the
/// layout of factors. Also writes for each row AttentionOp's log_sum_exp, and the sum of all w, of dropped ones, too.
/// It computes several rows at a time, since each maximum and each sum is a chain of dependent instructions.
template <typename Panels, typename Draws>
void weigh_rows(float* z, std::int64_t num_keys, std::int64_t padded, float scale, const Draws& draws,
                const std::uint16_t* const (&drawn)[kRowsAtATime], float* log_sum_exp, float* sums) {
  const float to_log2 = scale * kLog2E;
  Vec largest[kRowsAtATime], w_sums[kRowsAtATime] = {};
  for (int r = 0; r < kRowsAtATime; ++r) {
    mask_tail(z + r * padded, num_keys, padded);
    largest[r] = read<Vec>(z + r * padded);
  }
  for (std::int64_t k = kLanes; k < padded; k += kLanes) {
#pragma GCC unroll 4
    for (int r = 0; r < kRowsAtATime; ++r) largest[r] = larger(largest[r], read<Vec>(z + r * padded + k));
  }
  float max[kRowsAtATime], base[kRowsAtATime];
  for (int r = 0; r < kRowsAtATime; ++r) {
    max[r] = max_of_lanes(largest[r]);
    base[r] = max[r] * to_log2;
  }
  for (std::int64_t k = 0; k < padded; k += kLanes) {
#pragma GCC unroll 4
    for (int r = 0; r < kRowsAtATime; ++r) {
      const Vec w = power_of_2(to_log2 * read<Vec>(z + r * padded + k) - base[r]);
      w_sums[r] += w;
      Panels::store_along_row(z + r * padded, k, draws.kept(drawn[r] + k, w));
    }
  }
  for (int r = 0; r < kRowsAtATime; ++r) {
    sums[r] = sum_of_lanes(w_sums[r]);
    log_sum_exp[r] = static_cast<float>(double{scale} * double{max[r]} + std::log(double{sums[r]}));
  }
}

/// The sums of a row of z that differentiate_rows() reads: AttentionOp's log_sum_exp, and the sum of y dy over the row.
struct QuerySums {
  float log_sum_exp, y_dy;
};

/// Computes the weights p, with 0 for dropped ones, and dz / scale of kDepth neighbouring rows, from z and
/// dp = dy value^T. Overwrites dp by dz as factors of sums over keys, and z by p as factors of sums over queries. With
/// a depth of 2, p for both rows is written to the first row of z, and dz for sums over queries to the second.
template <typename Panels, typename Draws>
void differentiate_rows(float* z, float* dp, std::int64_t num_keys, float scale, float kept_factor,
                        const QuerySums* sums, const Draws& draws,
                        const std::uint16_t* const (&drawn)[Panels::kDepth]) {
  constexpr std::int64_t kDepth = Panels::kDepth;
  const float to_log2 = scale * kLog2E;
  for (std::int64_t k = 0; k < num_keys; k += kLanes) {
    Vec dropped_p[kDepth], dz[kDepth];
#pragma GCC unroll 2
    for (std::int64_t r = 0; r < kDepth; ++r) {
      const Vec p = power_of_2(to_log2 * read<Vec>(z + r * num_keys + k) - kLog2E * sums[r].log_sum_exp);
      const Vec through = draws.kept(drawn[r] + k, kept_factor * read<Vec>(dp + r * num_keys + k));
      dropped_p[r] = draws.kept(drawn[r] + k, p);
      dz[r] = p * (through - sums[r].y_dy);
    }
    Panels::store_across_rows(z, k, dropped_p);
    if constexpr (kDepth == 1) {
      Panels::store_along_row(dp, k, dz[0]);
    } else {
      Panels::store_across_rows(z + num_keys, k, dz);
      for (std::int64_t r = 0; r < kDepth; ++r) Panels::store_along_row(dp + r * num_keys, k, dz[r]);
    }
  }
}

}  // namespace convoy::ops::cpu
