/// Assigns samples to positions of an epoch by a keyed permutation, which is computable at any position without the
/// ones before it.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/io/sample_store.h"

namespace convoy {

struct Parameters;

struct SamplerSpec {
  std::int64_t num_samples = 0;
  std::uint64_t seed = 0;
  bool shuffle = true;
  /// Labels of all samples. If given, each class has the same number of positions in an epoch; if empty, each sample
  /// has one position.
  std::vector<std::int32_t> labels = {};
};

/// Draws the order of samples. The permutation is a Feistel network of eight rounds over the smallest even number of
/// bits that holds num_samples, walked until it lands inside (Black & Rogaway 2002, "Ciphers with arbitrary finite
/// domains"). Philox draws its round keys from (seed, epoch). Without shuffle, the sample is the position itself.
/// With labels, and K classes that have samples: position x of the permutation belongs to class x mod K. It takes the
/// next sample of the class, in an order of the class that is drawn anew each time all its samples were taken. So an
/// epoch has N / K positions for each class: the samples of a rare class occur several times, and some samples of a
/// frequent class only in another epoch.
class Sampler {
 public:
  explicit Sampler(SamplerSpec spec);

  /// Returns the sample at `position`, in [0, num_samples), of the epoch. Without labels this is a bijection for each
  /// epoch. Takes O(1) and no state.
  std::int64_t sample(std::int64_t epoch, std::int64_t position) const;
  std::int64_t num_samples() const { return spec_.num_samples; }

 private:
  struct ClassSamples {
    std::int64_t label = 0;
    std::vector<std::int64_t> samples;
  };

  SamplerSpec spec_;
  std::vector<ClassSamples> classes_;  ///< classes that have samples; empty without labels
};

/// Returns the sampler that params.train.seed, params.data.shuffle and params.data.balanced ask for.
Sampler training_sampler(const io::SampleStore& samples, const Parameters& params);

}  // namespace convoy
