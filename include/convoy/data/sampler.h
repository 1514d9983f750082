/// Assigns samples to the positions of an epoch by a keyed permutation. The sample at a position can be computed
/// without those before it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/io/sample_store.h"

namespace convoy {

struct Parameters;

struct SamplerSpec {
  std::int64_t num_samples = 0;
  std::uint64_t seed = 0;
  bool shuffle = true;
  /// Labels of all samples, for balanced classes: each class gets the same number of positions in an epoch. Empty: each
  /// sample gets one position.
  std::vector<std::int32_t> labels = {};
};

/// Computes the random order of samples in each epoch. The permutation is a Feistel network of eight rounds over the
/// smallest even number of bits that holds num_samples, applied repeatedly until the result is below num_samples (Black
/// & Rogaway 2002, "Ciphers with arbitrary finite domains"). Its round keys are random numbers of Philox for (seed,
/// epoch). Without shuffle, the sample is the position itself.
///
/// With labels, let K be the number of classes that have samples. Position x of the permutation belongs to class x mod
/// K, and gets the next sample of this class, in a random order that changes each time all samples of the class were
/// used. So an epoch of N samples has N / K positions for each class: samples of a rare class occur several times, and
/// some samples of a frequent class occur only in another epoch.
class Sampler {
 public:
  explicit Sampler(SamplerSpec spec);

  /// Returns the index of the sample at `position`, in [0, num_samples), of the epoch. Without SamplerSpec::labels each
  /// sample has exactly one position; with labels, samples may repeat or be missing. Takes constant time and changes
  /// nothing.
  std::int64_t sample(std::int64_t epoch, std::int64_t position) const;
  /// Sets `to` to the samples at `position` and the positions after it. Takes less time than a call for each.
  void samples(std::int64_t epoch, std::int64_t position, std::span<std::int64_t> to) const;
  std::int64_t num_samples() const { return spec_.num_samples; }

 private:
  struct ClassSamples {
    std::int64_t label = 0;
    std::vector<std::int64_t> samples;
  };

  SamplerSpec spec_;
  std::vector<ClassSamples> classes_;  ///< classes that have samples; empty if SamplerSpec::labels was empty
};

/// Returns the sampler that params.train.seed, params.data.shuffle and params.data.balanced ask for.
Sampler training_sampler(const io::SampleStore& samples, const Parameters& params);

}  // namespace convoy
