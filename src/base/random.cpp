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

// A point of the plane whose coordinates are independent and standard normal (Box-Muller); 1 - u lies in (0, 1].
struct NormalPoint {
  NormalPoint(std::uint64_t radius_bits, std::uint64_t angle_bits)
      : radius(std::sqrt(-2.0 * std::log(1.0 - to_unit(radius_bits)))),
        angle(2.0 * std::numbers::pi * to_unit(angle_bits)) {}
  double x() const { return radius * std::cos(angle); }
  double y() const { return radius * std::sin(angle); }

  double radius, angle;
};

// Gamma(alpha) as the logarithms of two factors: Gamma(alpha + 1) and U^(1 / alpha), which alone would underflow.
struct LogGamma {
  double log_gamma = 0;  // of Gamma(alpha + 1)
  double log_u = 0;
};

// Draws gamma variable `which` (0 or 1) of two independent ones. An attempt takes one block: two words for a normal
// number, one for the test, one for U.
LogGamma draw_gamma(const RandomKey& key, double alpha, std::uint64_t which) {
  const double d = alpha + 1 - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (std::uint64_t attempt = 0;; ++attempt) {
    const auto block = random_block(key, 2 * attempt + which);
    const double x = NormalPoint(block[0], block[1]).x(), root = 1 + c * x;
    if (root <= 0) continue;
    const double log_v = 3 * std::log(root), v = root * root * root;
    if (std::log(1.0 - to_unit(block[2])) < 0.5 * x * x + d - d * v + d * log_v)
      return {.log_gamma = std::log(d) + log_v, .log_u = std::log(1.0 - to_unit(block[3]))};
  }
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
  return NormalPoint(block[0], block[1]).x();
}

std::array<double, 4> random_normals(const RandomKey& key, std::uint64_t index) {
  const auto block = random_block(key, index);
  const NormalPoint first(block[0], block[1]), second(block[2], block[3]);
  return {first.x(), first.y(), second.x(), second.y()};
}

// X / (X + Y) = 1 / (1 + exp(log Y - log X))
double random_beta(const RandomKey& key, double alpha) {
  const LogGamma x = draw_gamma(key, alpha, 0), y = draw_gamma(key, alpha, 1);
  return 1 / (1 + std::exp(y.log_gamma - x.log_gamma + (y.log_u - x.log_u) / alpha));
}

std::uint64_t random_below(const RandomKey& key, std::uint64_t index, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(random_block(key, index)[0]) * bound) >> 64);
}

std::uint64_t hash_name(std::string_view name) {
  return XXH3_64bits(name.data(), name.size());
}

}  // namespace convoy
