/// Means and deviations are those of exact sums, whatever the type, the size and the number of shards.
#include "data/arrays/array_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "convoy/base/random.h"

namespace convoy {
namespace {

__extension__ using Wide = __int128;

/// The sums of values that lie in samples of `pixels` pixels, which are dealt out to shards of `samples` samples.
template <typename Number>
std::vector<ChannelSums> sums_of(ElementType type, const std::vector<Number>& values, std::size_t channels,
                                 std::size_t pixels, std::size_t samples) {
  std::vector<ChannelSums> all(channels);
  const std::size_t size = channels * pixels;
  for (std::size_t begin = 0; begin < values.size(); begin += size * samples) {
    ChannelMoments moments(type, static_cast<std::int64_t>(channels));
    for (std::size_t i = begin; i < std::min(begin + size * samples, values.size()); i += size)
      moments.add(std::as_bytes(std::span(values).subspan(i, size)));
    const std::vector<ChannelSums> shard = moments.sums();
    for (std::size_t c = 0; c < channels; ++c) all[c].add(shard[c]);
  }
  return all;
}

/// Numbers of many magnitudes: a multiple of 2^-20, below 2^20, so that sums of squares are whole multiples of 2^-40.
std::vector<float> made_floats(std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::int64_t>(random_below({.seed = 5}, i, 1 << 24)) - (1 << 23);
    values.push_back(static_cast<float>(std::ldexp(static_cast<double>(bits), static_cast<int>(i * 7 % 17) - 20)));
  }
  return values;
}

TEST(ChannelMoments, SumsOfFloatsAreExact) {
  for (const std::size_t channels : {1u, 3u, 7u, 8u, 100u}) {
    SCOPED_TRACE(channels);
    constexpr std::size_t kPixels = 37, kSamples = 55;
    const std::vector<float> values = made_floats(channels * kPixels * kSamples);
    const std::vector<ChannelSums> sums = sums_of(ElementType::kFloat32, values, channels, kPixels, 20);
    for (std::size_t c = 0; c < channels; ++c) {
      Wide sum = 0, squares = 0;  // in units of 2^-20 and 2^-40
      for (std::size_t i = c; i < values.size(); i += channels) {
        const auto whole = static_cast<Wide>(std::ldexp(static_cast<double>(values[i]), 20));
        sum += whole;
        squares += whole * whole;
      }
      EXPECT_EQ(sums[c].count, static_cast<std::int64_t>(kPixels * kSamples));
      const auto is_exact = [](const DoubleDouble& found, Wide wanted, int exponent) {
        return static_cast<Wide>(std::ldexp(found.high, exponent)) +
                   static_cast<Wide>(std::ldexp(found.low, exponent)) ==
               wanted;
      };
      EXPECT_TRUE(is_exact(sums[c].sum, sum, 20));
      EXPECT_TRUE(is_exact(sums[c].squares, squares, 40));
    }
  }
}

TEST(ChannelMoments, MeanAndDeviationAreThoseOfLongDouble) {
  const std::vector<float> values = made_floats(3 * 11 * 400);
  const std::vector<ChannelSums> sums = sums_of(ElementType::kFloat32, values, 3, 11, 150);
  for (std::size_t c = 0; c < 3; ++c) {
    long double sum = 0, squares = 0;
    for (std::size_t i = c; i < values.size(); i += 3) sum += values[i];
    const long double mean = sum / (11 * 400);
    for (std::size_t i = c; i < values.size(); i += 3) squares += (values[i] - mean) * (values[i] - mean);
    EXPECT_DOUBLE_EQ(sums[c].mean(), static_cast<double>(mean));
    EXPECT_DOUBLE_EQ(sums[c].stddev(), static_cast<double>(std::sqrt(squares / (11 * 400))));
  }
}

// A deviation of 10^-3 around 10^6 is lost in sums of doubles: the squares differ in their 19th digit.
TEST(ChannelMoments, ASmallDeviationAroundALargeMeanIsKept) {
  std::vector<float> values;
  for (int i = 0; i < 100'000; ++i) values.push_back(i % 2 == 0 ? 1'000'000.0F : 1'000'000.0625F);
  const ChannelSums sums = sums_of(ElementType::kFloat32, values, 1, 10, 1000).front();
  EXPECT_EQ(sums.mean(), 1'000'000.03125);
  EXPECT_EQ(sums.stddev(), 0.03125);
}

// The squares have 104 bits, and their sum 114: two doubles hold 106 or more of them.
TEST(ChannelMoments, IntegersOf64BitsAndAConstantAreExactTo100Bits) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < 1000; ++i) values.push_back((std::int64_t{1} << 52) + i * 1'000'003);
  const ChannelSums sums = sums_of(ElementType::kInt64, values, 1, 1, 300).front();
  Wide sum = 0, squares = 0;
  for (const std::int64_t value : values) {
    sum += value;
    squares += Wide{value} * value;
  }
  EXPECT_TRUE(static_cast<Wide>(sums.sum.high) + static_cast<Wide>(sums.sum.low) == sum);
  const Wide error = static_cast<Wide>(sums.squares.high) + static_cast<Wide>(sums.squares.low) - squares;
  EXPECT_TRUE((error < 0 ? -error : error) <= squares >> 100);
  const std::vector<float> constant(1000, 0.1F);
  const ChannelSums same = sums_of(ElementType::kFloat32, constant, 1, 1, 7).front();
  EXPECT_EQ(same.mean(), static_cast<double>(0.1F));
  EXPECT_EQ(same.stddev(), 0);
}

TEST(ChannelMoments, OtherTypesCountAsTheirNumbers) {
  const std::vector<std::uint8_t> bytes = {0, 255, 3, 4};
  EXPECT_EQ(sums_of(ElementType::kUint8, bytes, 2, 1, 1)[1].sum.high, 259);
  const std::vector<std::int16_t> shorts = {-3, 32767, 5, -32768};
  EXPECT_EQ(sums_of(ElementType::kInt16, shorts, 1, 4, 1)[0].sum.high, 1);
  const std::vector<std::uint16_t> halves = {0x3c00, 0xc000, 0x0001, 0x7bff};  // 1, -2, 2^-24, 65504
  const ChannelSums sums = sums_of(ElementType::kFloat16, halves, 1, 4, 1).front();
  EXPECT_EQ(sums.sum.high + sums.sum.low, 65503 + 0x1p-24);
}

// What is outside a fold is added as it would be without the fold, although that is 10^30 times larger.
TEST(ChannelMoments, OutsideAFoldNothingOfItIsLeft) {
  constexpr std::size_t kFolds = 4, kChannels = 3, kSize = 2 * kChannels;
  std::vector<float> values = made_floats(kSize * 200);
  const auto fold_of = [](std::size_t i) { return i / kSize * 7 % 11 % kFolds; };
  for (std::size_t i = 0; i < values.size(); ++i)
    if (fold_of(i) == 2) values[i] *= 0x1p100F;
  ChannelMoments all(ElementType::kFloat32, kChannels, kFolds);
  for (std::size_t i = 0; i < values.size(); i += kSize)
    all.add(std::as_bytes(std::span(values).subspan(i, kSize)), static_cast<std::int64_t>(fold_of(i)));
  std::vector<ChannelSums> of_folds;
  for (std::size_t fold = 0; fold < kFolds; ++fold)
    for (const ChannelSums& sums : all.sums(static_cast<std::int64_t>(fold))) of_folds.push_back(sums);
  const std::vector<ChannelSums> outside = sums_outside_folds(of_folds, kFolds);
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<float> others;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (fold_of(i) != fold) others.push_back(values[i]);
    const std::vector<ChannelSums> wanted = sums_of(ElementType::kFloat32, others, kChannels, 2, others.size());
    for (std::size_t c = 0; c < kChannels; ++c) {
      EXPECT_EQ(outside[fold * kChannels + c].count, wanted[c].count);
      EXPECT_DOUBLE_EQ(outside[fold * kChannels + c].mean(), wanted[c].mean());
      EXPECT_DOUBLE_EQ(outside[fold * kChannels + c].stddev(), wanted[c].stddev());
    }
  }
}

TEST(ChannelMoments, AMissingValueDoesNotCount) {
  const float missing = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {1, missing, 3, 4, missing, missing};
  const std::vector<ChannelSums> sums = sums_of(ElementType::kFloat32, values, 2, 1, 2);
  EXPECT_EQ(sums[0].count, 2);
  EXPECT_EQ(sums[0].mean(), 2);
  EXPECT_EQ(sums[0].stddev(), 1);
  EXPECT_EQ(sums[1].count, 1);
  EXPECT_EQ(sums[1].mean(), 4);
  EXPECT_EQ(ChannelSums().mean(), 0);
  EXPECT_EQ(ChannelSums().stddev(), 0);
}

}  // namespace
}  // namespace convoy
