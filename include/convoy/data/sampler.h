/// Which sample stands where in an epoch: a keyed permutation, computable at any position without the ones before.
#pragma once

#include <cstdint>

namespace convoy {

struct SamplerSpec {
  std::int64_t num_samples = 0;
  std::uint64_t seed = 0;
  bool shuffle = true;
};

/// A Feistel network of eight rounds over the smallest even number of bits that holds num_samples, walked until it
/// lands inside (Black & Rogaway 2002, "Ciphers with arbitrary finite domains"). Philox draws its round keys from
/// (seed, epoch). Without shuffle: the position itself.
class Sampler {
 public:
  explicit Sampler(const SamplerSpec& spec);

  /// The sample at `position` in [0, num_samples) of the epoch. A bijection for each epoch. O(1), no state.
  std::int64_t sample(std::int64_t epoch, std::int64_t position) const;
  std::int64_t num_samples() const { return spec_.num_samples; }

 private:
  SamplerSpec spec_;
  int half_bits_ = 1;
};

}  // namespace convoy
