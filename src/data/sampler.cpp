/// Computes keyed permutations: a Feistel network whose round keys are Philox's.
#include "convoy/data/sampler.h"

#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/params/parameters.h"

namespace convoy {

namespace {

constexpr int kRounds = 8;
using RoundKeys = std::array<std::uint64_t, kRounds>;

RoundKeys round_keys(const RandomKey& key) {
  const auto first = random_block(key, 0);
  const auto second = random_block(key, 1);
  return {first[0], first[1], first[2], first[3], second[0], second[1], second[2], second[3]};
}

/// Mixes the bits of x by two multiplications and shifts, after which each bit of the input changes each bit of the
/// output with a probability near 1/2 (Stafford's variant 13 of MurmurHash3's finaliser, the one of SplitMix64).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Maps (left, right) -> (right, left xor f(right)) in each round, a bijection for any f.
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

// Computes a bijection of [0, size), of each value: it follows the network's cycle to the next point inside. The
// network's domain is less than 4 times as large (except for 1 sample), so less than 4 steps suffice on average. In the
// first loop no value waits for another, so that a processor computes several at a time.
void permute(std::span<std::int64_t> values, std::int64_t size, const RandomKey& key) {
  int half_bits = 1;
  while ((std::int64_t{1} << (2 * half_bits)) < size) ++half_bits;
  const RoundKeys keys = round_keys(key);
  const auto next = [&](std::int64_t x) {
    return static_cast<std::int64_t>(feistel(static_cast<std::uint64_t>(x), half_bits, keys));
  };
  for (std::int64_t& value : values) value = next(value);
  for (std::int64_t& value : values)
    while (value >= size) value = next(value);
}

}  // namespace

Sampler::Sampler(SamplerSpec spec) : spec_(std::move(spec)) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 60;
  if (spec_.num_samples < 1 || spec_.num_samples > kLargest) fail("cannot sample from {} samples", spec_.num_samples);
  if (spec_.labels.empty()) return;
  if (std::ssize(spec_.labels) != spec_.num_samples)
    fail("{} samples have {} labels: one label for each sample is needed", spec_.num_samples, spec_.labels.size());
  std::map<std::int32_t, ClassSamples> classes;
  for (std::int64_t i = 0; i < spec_.num_samples; ++i) {
    const std::int32_t label = spec_.labels[static_cast<std::size_t>(i)];
    ClassSamples& of_class = classes[label];
    of_class.label = label;
    of_class.samples.push_back(i);
  }
  for (auto& [label, of_class] : classes) classes_.push_back(std::move(of_class));
  spec_.labels.clear();
  spec_.labels.shrink_to_fit();
}

std::int64_t Sampler::sample(std::int64_t epoch, std::int64_t position) const {
  samples(epoch, position, {&position, 1});
  return position;
}

void Sampler::samples(std::int64_t epoch, std::int64_t position, std::span<std::int64_t> to) const {
  std::iota(to.begin(), to.end(), position);
  if (!spec_.shuffle) return;
  const auto key = [&](Purpose purpose, std::int64_t item) {
    return RandomKey{spec_.seed, purpose, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(item)};
  };
  permute(to, spec_.num_samples, key(Purpose::kShuffle, 0));
  if (classes_.empty()) return;
  for (std::int64_t& place : to) {
    const std::int64_t num_classes = std::ssize(classes_), turn = place / num_classes;
    const ClassSamples& of_class = classes_[static_cast<std::size_t>(place % num_classes)];
    const std::int64_t size = std::ssize(of_class.samples), pass = turn / size;
    // Packs two numbers into one: a class has at most 2^60 samples, and there are at most 2^31 classes.
    const std::int64_t item = pass * (std::int64_t{1} << 31) + of_class.label;
    place = turn % size;
    permute({&place, 1}, size, key(Purpose::kBalancedSample, item));
    place = of_class.samples[static_cast<std::size_t>(place)];
  }
}

Sampler training_sampler(const io::SampleStore& samples, const Parameters& params) {
  SamplerSpec spec{
      .num_samples = samples.info().num_samples, .seed = params.train.seed, .shuffle = params.data.shuffle};
  if (params.data.balanced && samples.info().target.kind != TargetKind::kClass)
    refuse("data.balanced = true draws each class equally often, but the targets of data.train are {}. Leave it out.",
           outputs_of(samples.info().target.kind));
  if (params.data.balanced)
    for (std::int64_t i = 0; i < spec.num_samples; ++i) spec.labels.push_back(samples.label(i));
  return Sampler(std::move(spec));
}

}  // namespace convoy
