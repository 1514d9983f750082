/// Counter-based random numbers on Random123's Philox.
#include "convoy/base/random.h"

#include <cmath>
#include <numbers>

#include <Random123/philox.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace convoy {

namespace {

// 2^-53: the 53 high bits of a 64-bit word are exact in a double.
double to_unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace

std::array<std::uint64_t, 4> random_block(const RandomKey& key, std::uint64_t index) {
  const r123::Philox4x64::ctr_type counter = {{index, key.item, key.epoch, static_cast<std::uint64_t>(key.purpose)}};
  const r123::Philox4x64::key_type philox_key = {{key.seed, 0}};
  const auto block = r123::Philox4x64()(counter, philox_key);
  return {block[0], block[1], block[2], block[3]};
}

double random_uniform(const RandomKey& key, std::uint64_t index) {
  return to_unit(random_block(key, index)[0]);
}

double random_normal(const RandomKey& key, std::uint64_t index) {
  const auto block = random_block(key, index);
  const double radius = std::sqrt(-2.0 * std::log(1.0 - to_unit(block[0])));  // 1 - u lies in (0, 1]
  return radius * std::cos(2.0 * std::numbers::pi * to_unit(block[1]));
}

std::uint64_t random_below(const RandomKey& key, std::uint64_t index, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(random_block(key, index)[0]) * bound) >> 64);
}

std::uint64_t hash_name(std::string_view name) {
  return XXH3_64bits(name.data(), name.size());
}

}  // namespace convoy
