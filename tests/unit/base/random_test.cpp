/// Random numbers: the right function, uniform in every use, and the same for every caller in any order.
#include "convoy/base/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace convoy {
namespace {

// --- The function --------------------------------------------------------------------------------------------

using Block = std::array<std::uint64_t, 4>;
using Key = std::array<std::uint64_t, 2>;

// Philox4x64-10 written from the paper (section 3.3 and table 2): the reference of these tests.
Block philox4x64_10(Block c, Key k) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t kM0 = 0xD2E7470EE14C6C93, kM1 = 0xCA5A826395121157;
  constexpr Key kWeyl = {0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B};  // golden ratio, sqrt(3) - 1
  for (int round = 0; round < 10; ++round) {
    const Wide p0 = Wide{kM0} * c[0], p1 = Wide{kM1} * c[2];
    c = {static_cast<std::uint64_t>(p1 >> 64) ^ c[1] ^ k[0], static_cast<std::uint64_t>(p1),
         static_cast<std::uint64_t>(p0 >> 64) ^ c[3] ^ k[1], static_cast<std::uint64_t>(p0)};
    k = {k[0] + kWeyl[0], k[1] + kWeyl[1]};
  }
  return c;
}

TEST(Philox4x64, OracleGivesThePublishedKnownAnswers) {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  EXPECT_EQ(philox4x64_10({0, 0, 0, 0}, {0, 0}),
            (Block{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}));
  EXPECT_EQ(philox4x64_10({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Block{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}));
  // The digits of pi.
  EXPECT_EQ(philox4x64_10({0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
                          {0x452821e638d01377, 0xbe5466cf34e90c6c}),
            (Block{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}));
}

TEST(RandomBlock, IsPhiloxOfIndexItemEpochPurposeUnderTheSeed) {
  EXPECT_EQ(random_block({.seed = 0, .purpose = Purpose{0}, .epoch = 0, .item = 0}, 0),
            (Block{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}));
  const RandomKey key = {.seed = 0x0123456789abcdef, .purpose = Purpose::kCrop, .epoch = 77, .item = 59'999};
  for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    EXPECT_EQ(random_block(key, index), philox4x64_10({index, key.item, key.epoch, 3}, {key.seed, 0}));
  }
}

TEST(RandomBlock, ChangesWithEveryPartOfItsKey) {
  const RandomKey key = {.seed = 1, .purpose = Purpose::kCrop, .epoch = 1, .item = 1};
  std::set<Block> blocks = {random_block(key, 1), random_block(key, 2)};
  for (RandomKey other : {RandomKey{2, Purpose::kCrop, 1, 1}, RandomKey{1, Purpose::kFlip, 1, 1},
                          RandomKey{1, Purpose::kCrop, 2, 1}, RandomKey{1, Purpose::kCrop, 1, 2}}) {
    blocks.insert(random_block(other, 1));
  }
  EXPECT_EQ(blocks.size(), 6U);
}

TEST(Purpose, NumbersArePartOfTheResults) {
  EXPECT_EQ(static_cast<int>(Purpose::kInitialWeight), 1);
  EXPECT_EQ(static_cast<int>(Purpose::kShuffle), 2);
  EXPECT_EQ(static_cast<int>(Purpose::kCrop), 3);
  EXPECT_EQ(static_cast<int>(Purpose::kFlip), 4);
}

// --- The distributions ---------------------------------------------------------------------------------------
// The numbers are fixed, so these tests pass always or never; the bounds are those that a right generator meets with
// probability above 1 - 1e-6.

// Pearson's statistic over the cells. For d = cells - 1 degrees of freedom it has mean d and variance 2 d.
double chi_squared(const std::vector<int>& counts, double expected) {
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

// 255 degrees of freedom, both tails beyond six standard deviations: too even is as wrong as too uneven.
void expect_uniform_over_256_cells(const std::vector<int>& counts, double expected) {
  ASSERT_EQ(counts.size(), 256U);
  EXPECT_NEAR(chi_squared(counts, expected), 255, 6 * std::sqrt(2.0 * 255));
}

enum class Walk { kIndex, kItem, kEpoch, kSeed };

class UniformAlong : public testing::TestWithParam<Walk> {};

TEST_P(UniformAlong, EveryPartOfTheKeyFillsCellsEvenly) {
  constexpr int kDraws = 256 * 400;
  std::vector<int> high(256), low(256);
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    RandomKey key = {.seed = 42, .purpose = Purpose::kShuffle, .epoch = 3, .item = 5};
    if (GetParam() == Walk::kItem) key.item = i;
    if (GetParam() == Walk::kEpoch) key.epoch = i;
    if (GetParam() == Walk::kSeed) key.seed = i;
    const double u = random_uniform(key, GetParam() == Walk::kIndex ? i : 0);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ASSERT_EQ(u, std::ldexp(std::floor(std::ldexp(u, 53)), -53)) << "a multiple of 2^-53";
    ++high[static_cast<std::size_t>(u * 256)];
    ++low[static_cast<std::size_t>(static_cast<std::uint64_t>(std::ldexp(u, 53)) % 256)];
  }
  expect_uniform_over_256_cells(high, 400);
  expect_uniform_over_256_cells(low, 400);
}

INSTANTIATE_TEST_SUITE_P(Keys, UniformAlong, testing::Values(Walk::kIndex, Walk::kItem, Walk::kEpoch, Walk::kSeed));

TEST(RandomUniform, NeighboursAreIndependent) {
  // Pairs (u_i, u_{i+1}) of samples next to each other in a 16 x 16 grid of cells.
  std::vector<int> counts(256);
  for (std::uint64_t i = 0; i < 256 * 400; ++i) {
    const auto cell = [&](std::uint64_t item) {
      return static_cast<std::size_t>(16 * random_uniform({.seed = 7, .purpose = Purpose::kCrop, .item = item}, 0));
    };
    ++counts[16 * cell(2 * i) + cell(2 * i + 1)];
  }
  expect_uniform_over_256_cells(counts, 400);
}

TEST(RandomNormal, HasTheMomentsAndTailsOfTheStandardNormal) {
  constexpr int kDraws = 200'000;
  double sum = 0, squares = 0, cubes = 0, fourths = 0;
  int beyond_two = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double x = random_normal({.seed = 9, .item = hash_name("conv1.weight")}, i);
    sum += x, squares += x * x, cubes += x * x * x, fourths += x * x * x * x;
    if (std::abs(x) > 2) ++beyond_two;
  }
  // Five standard errors each: Var x = 1, Var x^2 = 2, Var x^3 = 15, Var x^4 = 105 - 9 = 96; P(|x| > 2) = 0.0455.
  const double error = 5 / std::sqrt(static_cast<double>(kDraws));
  EXPECT_NEAR(sum / kDraws, 0, error);
  EXPECT_NEAR(squares / kDraws, 1, error * std::sqrt(2.0));
  EXPECT_NEAR(cubes / kDraws, 0, error * std::sqrt(15.0));
  EXPECT_NEAR(fourths / kDraws, 3, error * std::sqrt(96.0));
  EXPECT_NEAR(static_cast<double>(beyond_two) / kDraws, 0.0455003, error * std::sqrt(0.0455 * 0.9545));
}

TEST(RandomNormals, AreFourIndependentStandardNormals) {
  constexpr int kDraws = 50'000;
  double squares[4] = {}, products[4][4] = {}, of_squares[4][4] = {};
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::array<double, 4> x = random_normals({.seed = 9, .purpose = Purpose::kNoise, .item = 3}, i);
    EXPECT_EQ(x[0], random_normal({.seed = 9, .purpose = Purpose::kNoise, .item = 3}, i));
    for (std::size_t a = 0; a < 4; ++a) {
      squares[a] += x[a] * x[a];
      for (std::size_t b = 0; b < a; ++b) {
        products[a][b] += x[a] * x[b];
        of_squares[a][b] += (x[a] * x[a] - 1) * (x[b] * x[b] - 1);
      }
    }
  }
  // Five standard errors each: Var a^2 = 2, Var a b = 1, Var (a^2 - 1) (b^2 - 1) = 4.
  const double error = 5 / std::sqrt(static_cast<double>(kDraws));
  for (std::size_t a = 0; a < 4; ++a) {
    EXPECT_NEAR(squares[a] / kDraws, 1, error * std::sqrt(2.0));
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_NEAR(products[a][b] / kDraws, 0, error);
      EXPECT_NEAR(of_squares[a][b] / kDraws, 0, error * 2);
    }
  }
}

TEST(RandomBelow, IsUniformOverBoundsThatAreNoPowersOfTwo) {
  std::vector<int> counts(9);
  constexpr int kDraws = 90'000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::uint64_t value = random_below({.seed = 1, .purpose = Purpose::kCrop, .item = i}, 0, 9);
    ASSERT_LT(value, 9U);
    ++counts[value];
  }
  EXPECT_LT(chi_squared(counts, kDraws / 9.0), 43);  // 8 degrees of freedom: P(> 43) = 9e-7
}

TEST(RandomBelow, OfOneIsZeroAndOfTheLargestBoundStaysBelowIt) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(random_below({.seed = 1}, i, 1), 0U);
    EXPECT_LT(random_below({.seed = 1}, i, ~std::uint64_t{0}), ~std::uint64_t{0});
  }
}

// --- Any caller, any order -----------------------------------------------------------------------------------

TEST(Random, IsTheSameForwardsBackwardsAndFromSeveralThreads) {
  constexpr std::uint64_t kDraws = 1000;
  const auto draw = [](std::uint64_t i) {
    return random_uniform({.seed = 5, .purpose = Purpose::kFlip, .item = i}, 0);
  };
  std::vector<double> forwards(kDraws), backwards(kDraws), threaded(kDraws);
  for (std::uint64_t i = 0; i < kDraws; ++i) forwards[i] = draw(i);
  for (std::uint64_t i = kDraws; i-- > 0;) backwards[i] = draw(i);
  std::vector<std::thread> threads;
  for (std::uint64_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      for (std::uint64_t i = first; i < kDraws; i += 4) threaded[i] = draw(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(backwards, forwards);
  EXPECT_EQ(threaded, forwards);
}

TEST(HashName, IsTheXxh3OfTheNameOnEveryMachine) {
  EXPECT_EQ(hash_name(""), 0x2d06800538d394c2U);  // published: XXH3_64bits of nothing, seed 0
  EXPECT_NE(hash_name("layer1.0.conv1.weight"), hash_name("layer1.0.conv2.weight"));
}

TEST(RandomBeta, HasTheMeanVarianceAndKurtosisOfItsDistribution) {
  constexpr int kDraws = 200'000;
  for (const double alpha : {0.05, 0.2, 0.5, 1.0, 2.0, 50.0}) {
    double sum = 0, squares = 0, fourths = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double value = random_beta({.seed = 3, .item = static_cast<std::uint64_t>(i)}, alpha);
      ASSERT_TRUE(value >= 0 && value <= 1) << value;
      const double d = value - 0.5;
      sum += d, squares += d * d, fourths += d * d * d * d;
    }
    // Johnson, Kotz & Balakrishnan: variance 1 / (4 (2a + 1)), kurtosis 3 (2a + 1) / (2a + 3).
    const double variance = 1 / (4 * (2 * alpha + 1)),
                 fourth = 3 * (2 * alpha + 1) / (2 * alpha + 3) * variance * variance;
    const double root = std::sqrt(kDraws);
    // Five standard errors each; the error of the fourth moment is below its own largest value, 1/16, divided by root.
    EXPECT_NEAR(sum / kDraws, 0, 5 * std::sqrt(variance) / root) << alpha;
    EXPECT_NEAR(squares / kDraws, variance, 5 * std::sqrt(std::max(0.0, fourth - variance * variance)) / root) << alpha;
    EXPECT_NEAR(fourths / kDraws, fourth, 5 * std::sqrt(fourth / 16) / root) << alpha;
  }
}

TEST(RandomBeta, OfOneIsUniform) {
  constexpr int kDraws = 100'000, kBins = 20;
  std::array<int, kBins> counts = {};
  for (int i = 0; i < kDraws; ++i)
    ++counts[static_cast<std::size_t>(random_beta({.seed = 4, .epoch = static_cast<std::uint64_t>(i)}, 1) * kBins)];
  double chi_square = 0;
  constexpr double kExpected = static_cast<double>(kDraws) / kBins;
  for (const int count : counts) chi_square += std::pow(count - kExpected, 2) / kExpected;
  EXPECT_LT(chi_square, 43.8);  // 19 degrees of freedom, 0.1 %
}

TEST(RandomBeta, IsItsKeysAloneAndANumberForEveryAlpha) {
  const RandomKey key{.seed = 1, .purpose = Purpose::kMixupShare, .epoch = 2, .item = 3};
  EXPECT_EQ(random_beta(key, 0.2), random_beta(key, 0.2));
  EXPECT_NE(random_beta(key, 0.2),
            random_beta({.seed = 1, .purpose = Purpose::kMixupShare, .epoch = 2, .item = 4}, 0.2));
  for (const double alpha : {1e-308, 1e-9, 1e3}) {
    const double value = random_beta(key, alpha);
    EXPECT_TRUE(value >= 0 && value <= 1) << alpha;
  }
}

}  // namespace
}  // namespace convoy
