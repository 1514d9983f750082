/// The shuffle is a bijection for every size, differs from epoch to epoch and seed to seed, and looks random.
#include "convoy/data/sampler.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

namespace convoy {
namespace {

std::vector<std::int64_t> order(const Sampler& sampler, std::int64_t epoch) {
  std::vector<std::int64_t> samples;
  for (std::int64_t i = 0; i < sampler.num_samples(); ++i) samples.push_back(sampler.sample(epoch, i));
  return samples;
}

void expect_bijection(std::int64_t num_samples, std::int64_t epoch) {
  const Sampler sampler({.num_samples = num_samples, .seed = 5});
  std::vector<bool> seen(static_cast<std::size_t>(num_samples));
  for (const std::int64_t sample : order(sampler, epoch)) {
    ASSERT_TRUE(sample >= 0 && sample < num_samples) << num_samples;
    ASSERT_FALSE(seen[static_cast<std::size_t>(sample)]) << num_samples << ": " << sample << " twice";
    seen[static_cast<std::size_t>(sample)] = true;
  }
}

TEST(Sampler, IsABijectionForEverySizeUpTo2000) {
  for (std::int64_t n = 1; n <= 2000; ++n) expect_bijection(n, n % 3);
}

TEST(Sampler, IsABijectionForTheSizesOfFashionMnistAndImageNet) {
  expect_bijection(60000, 0);
  expect_bijection(65536, 1);  // fills the network's domain
  expect_bijection(65537, 1);  // leaves most of the next one empty
  expect_bijection(1281167, 89);
}

// --- Balanced --------------------------------------------------------------------------------------------------------

// 7 samples of class 0, 40 of class 2, 153 of class 5, in no order.
SamplerSpec unbalanced() {
  SamplerSpec spec{.num_samples = 200, .seed = 5};
  for (std::int64_t i = 0; i < 200; ++i) spec.labels.push_back(i % 29 == 3 ? 0 : i % 5 == 1 ? 2 : 5);
  return spec;
}

TEST(Sampler, GivesSeveralSamplesAsOneByOne) {
  for (const SamplerSpec& spec :
       {SamplerSpec{.num_samples = 70, .seed = 5}, SamplerSpec{.num_samples = 70, .shuffle = false}, unbalanced()}) {
    const Sampler sampler(spec);
    std::vector<std::int64_t> several(50);
    sampler.samples(3, 17, several);
    for (std::size_t i = 0; i < several.size(); ++i)
      EXPECT_EQ(several[i], sampler.sample(3, 17 + static_cast<std::int64_t>(i)));
  }
}

TEST(BalancedSampler, GivesEachClassAsManyPlacesAndEachOfItsSamplesAsManyTurns) {
  const SamplerSpec spec = unbalanced();
  const Sampler sampler(spec);
  std::map<std::int32_t, std::int64_t> sizes;
  for (const std::int32_t label : spec.labels) ++sizes[label];
  ASSERT_EQ(sizes.size(), 3u);
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    std::map<std::int32_t, std::map<std::int64_t, std::int64_t>> turns;  // counts for each class's samples
    for (const std::int64_t sample : order(sampler, epoch))
      ++turns[spec.labels[static_cast<std::size_t>(sample)]][sample];
    for (const auto& [label, of_class] : turns) {
      std::int64_t places = 0, least = 200, most = 0;
      for (const auto& [sample, count] : of_class) {
        places += count;
        least = std::min(least, count);
        most = std::max(most, count);
      }
      EXPECT_TRUE(places == 66 || places == 67) << places << " of class " << label;  // 200 / 3
      EXPECT_EQ(std::ssize(of_class), std::min(sizes[label], places)) << "samples of class " << label;
      EXPECT_LE(most - least, 1) << "of class " << label;
    }
  }
}

TEST(BalancedSampler, ShowsOtherSamplesOfAFrequentClassInOtherEpochs) {
  const SamplerSpec spec = unbalanced();
  const Sampler sampler(spec);
  std::set<std::int64_t> seen;
  for (std::int64_t epoch = 0; epoch < 20; ++epoch)
    for (const std::int64_t sample : order(sampler, epoch)) seen.insert(sample);
  EXPECT_EQ(seen.size(), 200u);  // 66 of 153 each time: one is missed 20 times with p = 1e-5, any with 2e-3
  EXPECT_NE(order(sampler, 0), order(sampler, 1));
  EXPECT_EQ(order(sampler, 1), order(Sampler(spec), 1));
}

TEST(BalancedSampler, RefusesLabelsOfOtherSamples) {
  EXPECT_THROW(Sampler({.num_samples = 3, .labels = {0, 1}}), Error);
}

TEST(Sampler, WithoutShuffleGivesThePosition) {
  const Sampler sampler({.num_samples = 100, .seed = 1, .shuffle = false});
  for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(sampler.sample(3, i), i);
}

// Results of old runs depend on these numbers. Computed once by another program from the definition.
TEST(Sampler, NumbersAreForEver) {
  const Sampler sampler({.num_samples = 10, .seed = 1});
  EXPECT_EQ(order(sampler, 0), (std::vector<std::int64_t>{5, 0, 1, 2, 6, 9, 3, 7, 4, 8}));
  EXPECT_EQ(order(sampler, 1), (std::vector<std::int64_t>{7, 3, 6, 9, 0, 8, 2, 4, 1, 5}));
  const Sampler large({.num_samples = 1281167, .seed = 1});
  EXPECT_EQ(large.sample(3, 0), 310630);
  EXPECT_EQ(large.sample(3, 1), 932353);
  EXPECT_EQ(large.sample(3, 1281166), 985952);
}

// Two independent random orders of n agree in a Poisson(1)-distributed number of places: above 12 with p < 1e-10.
TEST(Sampler, EpochsAndSeedsGiveUnrelatedOrders) {
  const std::int64_t n = 60000;
  const Sampler one({.num_samples = n, .seed = 1});
  const Sampler two({.num_samples = n, .seed = 2});
  const auto agreements = [&](const Sampler& a, std::int64_t epoch_a, const Sampler& b, std::int64_t epoch_b) {
    int count = 0;
    for (std::int64_t i = 0; i < n; ++i) count += a.sample(epoch_a, i) == b.sample(epoch_b, i);
    return count;
  };
  EXPECT_LE(agreements(one, 0, one, 1), 12);
  EXPECT_LE(agreements(one, 1, one, 2), 12);
  EXPECT_LE(agreements(one, 0, two, 0), 12);
  EXPECT_EQ(agreements(one, 7, one, 7), n);
}

// |p(i) - i| / n of a random order has mean 1/3 and variance 1/18. The mean over n places has a deviation below
// sqrt(1/18/n) (the places' covariance is of order 1/n and negative or of the same size at most; 6 deviations leave
// room).
TEST(Sampler, MeanDisplacementIsAThird) {
  for (const std::int64_t n : {1000, 60000}) {
    const Sampler sampler({.num_samples = n, .seed = 3});
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
      sum += std::abs(static_cast<double>(sampler.sample(0, i) - i)) / static_cast<double>(n);
    EXPECT_NEAR(sum / static_cast<double>(n), 1.0 / 3, 6 * std::sqrt(1.0 / 18 / static_cast<double>(n))) << n;
  }
}

// The correlation of n pairs of a random order has deviation 1 / sqrt(n - 1): 6 of them are exceeded with p < 2e-9.
TEST(Sampler, NeighboursAndPositionsAreUncorrelated) {
  const std::int64_t n = 60000;
  const Sampler sampler({.num_samples = n, .seed = 4});
  const double mean = static_cast<double>(n - 1) / 2;
  const double variance = (static_cast<double>(n) * static_cast<double>(n) - 1) / 12;
  for (const std::int64_t lag : {1, 2, 256}) {  // 256: half of the network's bits
    double neighbours = 0, positions = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double here = static_cast<double>(sampler.sample(0, i)) - mean;
      neighbours += here * (static_cast<double>(sampler.sample(0, (i + lag) % n)) - mean);
      positions += here * (static_cast<double>((i + lag) % n) - mean);
    }
    const double bound = 6 / std::sqrt(static_cast<double>(n - 1));
    EXPECT_LT(std::abs(neighbours / static_cast<double>(n) / variance), bound) << lag;
    EXPECT_LT(std::abs(positions / static_cast<double>(n) / variance), bound) << lag;
  }
}

// Each of 4 samples stands first in a quarter of the epochs: binomial, deviation sqrt(n p (1 - p)) = 43 of 10000.
TEST(Sampler, SmallSetsAreShuffledFairly) {
  const Sampler sampler({.num_samples = 4, .seed = 6});
  std::vector<int> first(4);
  std::set<std::vector<std::int64_t>> orders;
  for (std::int64_t epoch = 0; epoch < 10000; ++epoch) {
    ++first[static_cast<std::size_t>(sampler.sample(epoch, 0))];
    orders.insert(order(sampler, epoch));
  }
  for (const int count : first) EXPECT_NEAR(count, 2500, 6 * 43.3);
  EXPECT_GE(orders.size(), 12u);  // a Feistel network's permutations of 4 are the even half of the 24
}

TEST(Sampler, NoSamplesAreRefused) {
  EXPECT_THROW(Sampler({.num_samples = 0}), Error);
  EXPECT_THROW(Sampler({.num_samples = -3}), Error);
}

}  // namespace
}  // namespace convoy
