/// Generates random numbers. Each is a hash of its purpose and index, never the next number of a stream that a rank or
/// thread owns. So the layout, the number of threads and a restart cannot change it. Philox4x64-10: Salmon, Moraes,
/// Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace convoy {

/// The purpose of a random number. The values determine the random numbers, and so results: never renumber them.
enum class Purpose : std::uint64_t {
  kInitialWeight = 1,
  kShuffle = 2,
  kCrop = 3,
  kFlip = 4,
  kResizedCrop = 5,
  kColour = 6,
  kCutout = 7,
  kMixupShare = 8,
  kMixupPartner = 9,
  kSentencePair = 10,
  kMaskedPosition = 11,
  kMaskedWord = 12,
  kCutMixShare = 13,
  kCutMixBox = 14,
  kMixKind = 15,
  kValidationSplit = 16,
  kErase = 17,
  kBalancedSample = 18,
  kAutoAugment = 19,
  kAudit = 20,
  kQuarterTurn = 21,
  kFlipRows = 22,
  kNoise = 23,
  kValueFactor = 24,
  kSubset = 25,
  kFold = 26,
};

/// The key of the random numbers for one purpose and one item in one epoch. `item` is a sample's index or the hash of a
/// tensor's name.
struct RandomKey {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::kInitialWeight;
  std::uint64_t epoch = 0;
  std::uint64_t item = 0;
};

/// Returns four independent random 64-bit numbers for (key, index).
std::array<std::uint64_t, 4> random_block(const RandomKey& key, std::uint64_t index);

/// Returns a random number, uniform in [0, 1), a multiple of 2^-53.
double random_uniform(const RandomKey& key, std::uint64_t index);

/// Returns a standard normal random number (Box-Muller on one block).
double random_normal(const RandomKey& key, std::uint64_t index);

/// Returns four independent standard normal random numbers for (key, index).
std::array<double, 4> random_normals(const RandomKey& key, std::uint64_t index);

/// Returns a random number of the distribution Beta(alpha, alpha) in [0, 1], alpha > 0: X / (X + Y) of two gamma
/// variables by rejection (Marsaglia & Tsang 2000, "A simple method for generating gamma variables"). The attempts use
/// several indices, so other random numbers of the same key must not be used.
double random_beta(const RandomKey& key, double alpha);

/// Returns a random number, uniform in {0, ..., bound - 1}; bound > 0. The probability of each number differs from
/// 1 / bound by less than 2^-64.
std::uint64_t random_below(const RandomKey& key, std::uint64_t index, std::uint64_t bound);

/// Returns a 64-bit hash of a name (XXH3), the same in every version, for RandomKey::item.
std::uint64_t hash_name(std::string_view name);

}  // namespace convoy
