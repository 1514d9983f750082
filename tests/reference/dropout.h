/// Dropout in plain loops, with random words written out from the paper: the oracle of DropoutOp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "convoy/ops/dropout.h"

#include "reference/array.h"
#include "reference/storage.h"

namespace convoy::reference {

using Words = std::array<std::uint32_t, 4>;

/// Philox4x32-10, Salmon et al. 2011, section 3.3: ten rounds of two products, whose low halves change places with the
/// counter's words, and a key that grows by two constants from round to round.
inline Words philox(Words counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ULL * counter[0], b = 0xCD9E8D57ULL * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key1, static_cast<std::uint32_t>(a)};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return counter;
}

/// Returns the factors of x: 0, or 1 / (1 - p) in float32, with p rounded to 16 bits.
inline Array dropout_factors(const ops::DropoutSpec& spec, const ops::DrawKey& key) {
  const std::uint64_t mixed = key.seed ^ spec.layer;
  const double p = std::min(std::floor(double{spec.p} * 0x1p16 + 0.5), 0x1p16 - 1) * 0x1p-16;
  const double kept = rounded(DataType::kFloat32, 1 / (1 - p));
  Array factors(index(spec.count));
  for (std::int64_t i = 0; i < spec.count; ++i) {
    const std::int64_t at = i / spec.values_per_draw;
    const Words words = philox({static_cast<std::uint32_t>(at / 8), static_cast<std::uint32_t>(key.micro_batch),
                                static_cast<std::uint32_t>(key.step), static_cast<std::uint32_t>(key.step >> 32)},
                               static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32));
    const std::uint32_t word = words[index(at % 8 / 2)], draw = at % 2 == 0 ? word & 0xffffU : word >> 16;
    factors[index(i)] = draw * 0x1p-16 < p ? 0 : kept;
  }
  return factors;
}

/// Returns y, rounded to float32 and then to the storage type.
inline Array dropout(const ops::DropoutSpec& spec, const ops::DrawKey& key, const Array& x) {
  Array y = dropout_factors(spec, key);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = rounded(DataType::kFloat32, y[i] * x[i]);
  return rounded(spec.type, std::move(y));
}

}  // namespace convoy::reference
