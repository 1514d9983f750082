/// The mean of two opinions, by hand.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "evaluation/logits.h"

namespace convoy {
namespace {

// Roundings of a logarithm of size 1 to float.
constexpr double kTolerance = 0x1p-23;

TEST(TestTimeAugmentation, MeanOfTheProbabilitiesRowByRow) {
  const std::vector<float> plain = {0, 0, 100, 0}, mirrored = {std::log(3.0f), 0, 100, 100};
  const std::vector<float> mean = mean_of_views(plain, mirrored, 2);
  ASSERT_EQ(mean.size(), 4u);
  EXPECT_NEAR(std::exp(mean[0]), (0.5 + 0.75) / 2, kTolerance);
  EXPECT_NEAR(std::exp(mean[1]), (0.5 + 0.25) / 2, kTolerance);
  EXPECT_NEAR(std::exp(mean[2]), (1 + 0.5) / 2, kTolerance) << "large logits";
  EXPECT_NEAR(std::exp(mean[3]), (0 + 0.5) / 2, kTolerance);
  EXPECT_EQ(mean_of_views(mirrored, plain, 2), mean) << "to the bit";
}

TEST(TestTimeAugmentation, WhatBothHoldImpossibleStaysFiniteAndNaNStaysNaN) {
  const std::vector<float> sure = {0, -1e30f};
  const std::vector<float> mean = mean_of_views(sure, sure, 2);
  EXPECT_EQ(mean[0], 0);
  EXPECT_LT(mean[1], -700);
  EXPECT_TRUE(std::isfinite(mean[1]));
  const std::vector<float> lost = {0, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_TRUE(std::isnan(score(mean_of_views(sure, lost, 2), 0).loss));
}

TEST(TestTimeAugmentation, ScoreIsTheLossAndTheFirstAmongEquals) {
  const std::vector<float> logits = {-2, -0.5f, -0.5f};
  EXPECT_EQ(score(logits, 0).loss, 2);
  EXPECT_EQ(score(logits, 1).num_correct, 1);
  EXPECT_EQ(score(logits, 2).num_correct, 0);
  EXPECT_EQ(score(logits, 2).num_samples, 1);
}

}  // namespace
}  // namespace convoy
