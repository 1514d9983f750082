/// Parameters move between file and device order unharmed, and start from keyed random numbers.
#include "convoy/model/parameter.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace convoy {

namespace {

const ParameterSpec kConv{
    .name = "conv1.weight", .kind = ParameterKind::kConvolutionWeight, .dims = {5, 3, 2, 2}, .fan_in = 12};

}  // namespace

TEST(Parameter, FileOrderIsOihwDeviceOrderIsOhwi) {
  std::vector<float> file(kConv.count()), device(kConv.count());
  std::iota(file.begin(), file.end(), 0.0f);
  to_device_order(kConv, file, device);
  for (std::int64_t o = 0; o < 5; ++o)
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t p = 0; p < 4; ++p) EXPECT_EQ(device[(o * 4 + p) * 3 + i], file[(o * 3 + i) * 4 + p]);
  std::vector<float> back(kConv.count());
  to_file_order(kConv, device, back);
  EXPECT_EQ(back, file);
}

TEST(Parameter, InitialValuesDependOnSeedAndNameAlone) {
  ParameterSpec other = kConv;
  other.name = "conv2.weight";
  EXPECT_EQ(initial_values(kConv, {.seed = 1}), initial_values(kConv, {.seed = 1}));
  EXPECT_NE(initial_values(kConv, {.seed = 1}), initial_values(kConv, {.seed = 2}));
  EXPECT_NE(initial_values(kConv, {.seed = 1}), initial_values(other, {.seed = 1}));
}

TEST(Parameter, ConvolutionsStartWithHeVariance) {
  const ParameterSpec spec{
      .name = "w", .kind = ParameterKind::kConvolutionWeight, .dims = {64, 64, 3, 3}, .fan_in = 576};
  const std::vector<float> values = initial_values(spec, {.seed = 3});
  double sum = 0, squares = 0;
  for (const float value : values) sum += value, squares += static_cast<double>(value) * value;
  const auto n = static_cast<double>(values.size());
  const double variance = 2.0 / (64 * 9);
  // Five standard errors: of a mean, sqrt(variance / n); of a variance, variance * sqrt(2 / n).
  EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(squares / n, variance, 5 * variance * std::sqrt(2 / n));
}

TEST(Parameter, LinearLayersStartWithinTheirBound) {
  const ParameterSpec spec{.name = "fc.bias", .kind = ParameterKind::kLinearBias, .dims = {1000}, .fan_in = 64};
  float largest = 0;
  for (const float value : initial_values(spec, {.seed = 3})) largest = std::max(largest, std::abs(value));
  EXPECT_LE(largest, 1.0f / 8);
  EXPECT_GT(largest, 0.98f / 8);  // all 1000 below 0.98 of the bound: probability 0.98^1000 = 2e-9
}

TEST(Parameter, VariancesStartAtOne) {
  const ParameterSpec spec{.name = "bn1.running_var", .kind = ParameterKind::kRunningVariance, .dims = {4}};
  EXPECT_EQ(initial_values(spec, {.seed = 1}), std::vector<float>(4, 1.0f));
  EXPECT_TRUE(spec.is_statistic());
}

TEST(Parameter, ScalesThatJoinAShortcutStartAtZeroWhereAsked) {
  ParameterSpec spec{.name = "layer1.0.bn2.weight", .kind = ParameterKind::kScale, .dims = {4}, .joins_shortcut = true};
  EXPECT_EQ(initial_values(spec, {.seed = 1}), std::vector<float>(4, 1.0f));
  EXPECT_EQ(initial_values(spec, {.seed = 1, .zero_residual = true}), std::vector<float>(4, 0.0f));
  spec.joins_shortcut = false;
  EXPECT_EQ(initial_values(spec, {.seed = 1, .zero_residual = true}), std::vector<float>(4, 1.0f));
}

}  // namespace convoy
