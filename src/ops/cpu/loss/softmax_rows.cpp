/// Passes over a row of logits in double, since all gradients depend on them. They take only a few more operations than
/// in float.
#include "ops/cpu/loss/softmax_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

using DoubleVec = double __attribute__((vector_size(kVectorBytes)));
using LongVec = std::uint64_t __attribute__((vector_size(kVectorBytes)));
using FewFloats = float __attribute__((vector_size(kVectorBytes / 2)));
using LooseFewFloatsAt = float __attribute__((vector_size(kVectorBytes / 2), may_alias, aligned(4)));
constexpr std::int64_t kDoubles = kLanes / 2;

constexpr std::int64_t kSearched = 256;  // values in which a maximum is searched for at a time

[[gnu::always_inline]] inline DoubleVec load_doubles(const float* p) {
  return __builtin_convertvector(FewFloats(*reinterpret_cast<const LooseFewFloatsAt*>(p)), DoubleVec);
}

/// exp(x) for x <= 0: 2^k exp(r), |r| <= log(2)/2, the polynomial minimax to 2^-46. For x < -700 it returns exp(-700).
[[gnu::always_inline]] inline DoubleVec exponential(DoubleVec x) {
  constexpr double kLog2E = 0x1.71547652b82fep+0, kRound = 0x1.8p+52;  // adding it leaves no bits for fractions
  constexpr double kLogOf2 = 0x1.62e42fefap-1, kLogOf2Rest = 0x1.cf79abc9e3b3ap-40;  // k times the first is exact
  constexpr double kCoefficients[] = {2.748218676705711445e-6,  0.000024884023460539576789, 0.00019841596461462201461,
                                      0.0013888802800439268991, 0.0083333330027115607769,   0.041666667032646019239,
                                      0.16666666667827472445,   0.49999999999457614043,     0.99999999999989269714,
                                      1.0000000000000127722};
  const DoubleVec limited = x < -700.0 ? DoubleVec{} - 700.0 : x;  // NaN stays
  const DoubleVec shifted = limited * kLog2E + kRound, k = shifted - kRound;
  const DoubleVec r = (limited - k * kLogOf2) - k * kLogOf2Rest;
  DoubleVec value{};
  for (const double coefficient : kCoefficients) value = value * r + coefficient;
  return std::bit_cast<DoubleVec>(std::bit_cast<LongVec>(value) + (std::bit_cast<LongVec>(shifted) << 52));
}

/// The sum of the lanes, in their order.
double sum_of_lanes(DoubleVec v) {
  double sum = 0;
  for (std::int64_t i = 0; i < kDoubles; ++i) sum += v[i];
  return sum;
}

float maximum(const float* z, std::int64_t count) {
  Vec most = Vec{} - std::numeric_limits<float>::infinity();
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vec v = read<Vec>(z + i);
    most = v > most ? v : most;  // NaN never is larger: the sums become NaN instead
  }
  float result = -std::numeric_limits<float>::infinity();
  for (std::int64_t lane = 0; lane < kLanes; ++lane) result = std::max(result, static_cast<float>(most[lane]));
  for (; i < count; ++i) result = z[i] > result ? z[i] : result;
  return result;
}

template <int... i>
[[gnu::always_inline]] inline Vec joined(FewFloats low, FewFloats high, std::integer_sequence<int, i...> /*lanes*/) {
  return __builtin_shufflevector(low, high, i...);
}

template <typename T>
void write_row(const float* z, std::int64_t count, const RowGradient& of, T* dz) {
  const auto gradient = [&](const float* p) {
    const DoubleVec p_of_class = exponential((load_doubles(p) - of.max) - of.log_sum_exp);
    return __builtin_convertvector(of.scale * (p_of_class - of.target), FewFloats);
  };
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    write(dz + i, joined(gradient(z + i), gradient(z + i + kDoubles), std::make_integer_sequence<int, kLanes>{}));
  }
  for (; i < count; ++i) {
    const double p_of_class = std::exp((double{z[i]} - of.max) - of.log_sum_exp);
    dz[i] = rounded_to<T>(static_cast<float>(of.scale * (p_of_class - of.target)));
  }
}

RowSums sum_few(const float* z, std::int64_t count) {
  RowSums sums{.best = std::max_element(z, z + count) - z};
  sums.max = double{z[sums.best]};
  for (std::int64_t k = 0; k < count; ++k) {
    const double d = double{z[k]} - sums.max;  // NaN if z is NaN or for +-inf - inf: then the loss is NaN
    sums.sum_exp += std::exp(d);
    sums.sum += d;
  }
  return sums;
}

}  // namespace

RowSums sum_row(const float* z, std::int64_t count) {
  if (count <= kFewSoftmaxClasses) return sum_few(z, count);
  float most = -std::numeric_limits<float>::infinity();
  std::int64_t at = 0;
  for (std::int64_t begin = 0; begin < count; begin += kSearched) {
    const float here = maximum(z + begin, std::min(kSearched, count - begin));
    if (here > most) {
      most = here;
      at = begin;
    }
  }
  while (at + 1 < count && z[at] != most) ++at;

  RowSums sums{.max = double{most}, .best = at};
  DoubleVec exps[2] = {}, ds[2] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int half = 0; half < 2; ++half) {
      const DoubleVec d = load_doubles(z + i + half * kDoubles) - sums.max;
      exps[half] += exponential(d);
      ds[half] += d;
    }
  }
  sums.sum_exp = sum_of_lanes(exps[0] + exps[1]);
  sums.sum = sum_of_lanes(ds[0] + ds[1]);
  for (; i < count; ++i) {
    const double d = double{z[i]} - sums.max;
    sums.sum_exp += std::exp(d);
    sums.sum += d;
  }
  return sums;
}

void write_gradient(const float* z, std::int64_t count, const RowGradient& gradient, float* dz) {
  write_row(z, count, gradient, dz);
}

void write_gradient(const float* z, std::int64_t count, const RowGradient& gradient, Bf16* dz) {
  write_row(z, count, gradient, dz);
}

}  // namespace convoy::ops::cpu
