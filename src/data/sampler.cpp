/// The keyed permutation: a Feistel network whose round keys are Philox's.
#include "convoy/data/sampler.h"

#include <array>

#include "convoy/base/error.h"
#include "convoy/base/random.h"

namespace convoy {

namespace {

constexpr int kRounds = 8;
using RoundKeys = std::array<std::uint64_t, kRounds>;

RoundKeys round_keys(std::uint64_t seed, std::int64_t epoch) {
  const RandomKey key{seed, Purpose::kShuffle, static_cast<std::uint64_t>(epoch), 0};
  const auto first = random_block(key, 0);
  const auto second = random_block(key, 1);
  return {first[0], first[1], first[2], first[3], second[0], second[1], second[2], second[3]};
}

/// Two multiplications and shifts after which each bit of the input has moved each bit of the output with a probability
/// near 1/2 (Stafford's variant 13 of MurmurHash3's finaliser, the one of SplitMix64).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// (left, right) -> (right, left xor f(right)), a bijection whatever f is.
std::uint64_t feistel(std::uint64_t x, int half_bits, const RoundKeys& keys) {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  std::uint64_t left = x >> half_bits;
  std::uint64_t right = x & mask;
  for (const std::uint64_t key : keys) {
    const std::uint64_t next = left ^ (mix(right ^ key) & mask);
    left = right;
    right = next;
  }
  return (left << half_bits) | right;
}

}  // namespace

Sampler::Sampler(const SamplerSpec& spec) : spec_(spec) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 60;
  if (spec.num_samples < 1 || spec.num_samples > kLargest) fail("cannot sample from {} samples", spec.num_samples);
  while ((std::int64_t{1} << (2 * half_bits_)) < spec.num_samples) ++half_bits_;
}

std::int64_t Sampler::sample(std::int64_t epoch, std::int64_t position) const {
  if (!spec_.shuffle) return position;
  const RoundKeys keys = round_keys(spec_.seed, epoch);
  const auto num_samples = static_cast<std::uint64_t>(spec_.num_samples);
  // Following the network's cycle from inside to the next point inside is a bijection of the inside. The network's
  // domain is less than 4 times as large (but for 1 sample), so less than 4 steps do on average.
  std::uint64_t x = static_cast<std::uint64_t>(position);
  do {
    x = feistel(x, half_bits_, keys);
  } while (x >= num_samples);
  return static_cast<std::int64_t>(x);
}

}  // namespace convoy
