/// Parameters are copied between file and device order unchanged, and start from keyed random numbers.
#include "convoy/model/parameter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "convoy/base/fingerprint.h"
#include "convoy/base/random.h"
#include "convoy/model/network.h"

namespace convoy {

namespace {

const ParameterSpec kConv{.name = "conv1.weight",
                          .dims = {5, 3, 2, 2},
                          .initial = {InitialValues::Kind::kNormal, 0.5},
                          .file_order = FileOrder::kChannelsBeforePixels};

// The spec of a parameter of resnet18 with 1000 classes.
ParameterSpec parameter_spec(const std::string& name) {
  const Network network =
      make_network({.name = "resnet18", .input = ImageShape{64, 64, 3}, .micro_batch = 1, .num_classes = 1000});
  for (const auto& cell : network)
    for (const auto& entry : cell->memory().parameters())
      if (entry.spec.name == name) return entry.spec;
  ADD_FAILURE() << name;
  return {};
}

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

// The sum is the fingerprint of the values in file order, however the device's values are cut.
TEST(Parameter, FingerprintsOfSlicesOnTheDeviceAddUpToThatOfTheFile) {
  ParameterSpec flat = kConv;
  flat.file_order = FileOrder::kAsOnDevice;
  for (const ParameterSpec& spec : {kConv, flat}) {
    const std::vector<float> file = initial_values(spec, {.seed = 1});
    std::vector<float> device(file.size());
    to_device_order(spec, file, device);
    const std::uint64_t want = fingerprint_part(hash_name(spec.name), {.values = file});
    for (const std::int64_t size : {1, 2, 3, 7, 16, 60}) {
      std::uint64_t sum = 0;
      for (std::int64_t first = 0; first < spec.count(); first += size) {
        const std::int64_t count = std::min(size, spec.count() - first);
        sum += fingerprint_part(spec, first, {device.data() + first, static_cast<std::size_t>(count)});
      }
      EXPECT_EQ(sum, want) << size;
    }
  }
}

TEST(Parameter, InitialValuesDependOnSeedAndNameAlone) {
  ParameterSpec other = kConv;
  other.name = "conv2.weight";
  EXPECT_EQ(initial_values(kConv, {.seed = 1}), initial_values(kConv, {.seed = 1}));
  EXPECT_NE(initial_values(kConv, {.seed = 1}), initial_values(kConv, {.seed = 2}));
  EXPECT_NE(initial_values(kConv, {.seed = 1}), initial_values(other, {.seed = 1}));
}

// He et al. 2015, "Delving deep": variance 2 / (O H W).
TEST(Parameter, ConvolutionsStartWithHeVariance) {
  const ParameterSpec spec = parameter_spec("layer1.0.conv1.weight");
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
  const ParameterSpec spec = parameter_spec("fc.bias");
  float largest = 0;
  for (const float value : initial_values(spec, {.seed = 3})) largest = std::max(largest, std::abs(value));
  const float bound = 1.0f / std::sqrt(512.0f);
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.98f * bound);  // all 1000 below 0.98 of the bound: probability 0.98^1000 = 2e-9
}

TEST(Parameter, VariancesStartAtOne) {
  const ParameterSpec spec = parameter_spec("bn1.running_var");
  EXPECT_EQ(initial_values(spec, {.seed = 1}), std::vector<float>(64, 1.0f));
  EXPECT_TRUE(spec.is_statistic());
}

TEST(Parameter, ScalesThatJoinAShortcutStartAtZeroWhereAsked) {
  const ParameterSpec last = parameter_spec("layer1.0.bn2.weight"), other = parameter_spec("layer1.0.bn1.weight");
  EXPECT_EQ(initial_values(last, {.seed = 1}), std::vector<float>(64, 1.0f));
  EXPECT_EQ(initial_values(last, {.seed = 1, .zero_residual = true}), std::vector<float>(64, 0.0f));
  EXPECT_EQ(initial_values(other, {.seed = 1, .zero_residual = true}), std::vector<float>(64, 1.0f));
}

}  // namespace convoy
