/// Which sample stands where in an epoch: a keyed permutation, computable at any position without the ones before.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/io/sample_store.h"
#include "convoy/params/parameters.h"

namespace convoy {

struct SamplerSpec {
  std::int64_t num_samples = 0;
  std::uint64_t seed = 0;
  bool shuffle = true;
  /// Of all samples: then each class has as many places in an epoch as any other. Empty: each sample has one place.
  std::vector<std::int32_t> labels = {};
};

/// A Feistel network of eight rounds over the smallest even number of bits that holds num_samples, walked until it
/// lands inside (Black & Rogaway 2002, "Ciphers with arbitrary finite domains"). Philox draws its round keys from
/// (seed, epoch). Without shuffle: the position itself.
/// With labels, of K classes that have samples: place x of the permutation is for class x mod K, and takes the next of
/// the class's samples in an order of its own, anew each time all have had their turn. So an epoch has N / K places for
/// each class; the samples of a rare class stand there several times, of a frequent one some stand in another epoch.
class Sampler {
 public:
  explicit Sampler(SamplerSpec spec);

  /// The sample at `position` in [0, num_samples) of the epoch. Without labels a bijection for each epoch. O(1), no
  /// state.
  std::int64_t sample(std::int64_t epoch, std::int64_t position) const;
  std::int64_t num_samples() const { return spec_.num_samples; }

 private:
  struct ClassSamples {
    std::int64_t label = 0;
    std::vector<std::int64_t> samples;
  };

  SamplerSpec spec_;
  std::vector<ClassSamples> classes_;  ///< those that have samples; none without labels
};

/// As params.train.seed, params.data.shuffle and params.data.balanced say.
Sampler training_sampler(const io::SampleStore& samples, const Parameters& params);

}  // namespace convoy
