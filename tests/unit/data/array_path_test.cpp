/// What a network reads of arrays: every type of values, normalised, read ahead by any number of threads, on the host
/// and on a device; labels and targets.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/data/loader.h"
#include "convoy/data/make_sample_path.h"
#include "convoy/device/device.h"
#include "convoy/io/dataset.h"
#include "convoy/ops/softmax_cross_entropy.h"
#include "convoy/params/parameters.h"

#include "data/arrays/convert_values.h"
#include "emulation/emulated_backend.h"
#include "reference/storage.h"
#include "unit/io/array_samples.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::message_of;
using Bits = std::vector<std::uint32_t>;
using enum TargetKind;

Bits bits_of(std::span<const float> values) {
  Bits bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

// --- Values of every type --------------------------------------------------------------------------------------------

template <typename T>
struct TypeCase {
  ElementType type;
  std::vector<T> values;
};

template <typename T>
std::vector<T> some_integers() {
  std::vector<T> values = {0, 1, std::numeric_limits<T>::max(), std::numeric_limits<T>::min()};
  for (int i = 0; i < 196; ++i) values.push_back(static_cast<T>(std::numeric_limits<T>::max() / 199 * i + 3 * i));
  return values;
}

template <typename T>
std::vector<T> some_numbers() {
  std::vector<T> values = {0, T(-0.0), 1, T(1e-40), T(-3e38), T(1) / 3};
  for (int i = 0; i < 194; ++i) values.push_back(static_cast<T>(std::ldexp(1.0 + i / 7.0, i - 90)));
  return values;
}

// 200 values, from an address that no type is aligned to.
template <typename T>
void expect_converted(ElementType type, const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T) + 1);
  std::memcpy(bytes.data() + 1, values.data(), values.size() * sizeof(T));
  std::vector<float> converted(values.size()), expected(values.size());
  ValueConverter(type, {}, {}).convert(std::span(bytes).subspan(1), converted);
  for (std::size_t i = 0; i < values.size(); ++i) expected[i] = static_cast<float>(static_cast<double>(values[i]));
  EXPECT_EQ(bits_of(converted), bits_of(expected)) << to_string(type);
  for (const std::size_t channels : {1, 2, 5, 100, 200}) {
    std::vector<double> mean, stddev;
    for (std::size_t c = 0; c < channels; ++c) {
      mean.push_back(100.0 / (static_cast<double>(c) - 2.5));
      stddev.push_back(c == 1 ? 0 : 1.0 / (static_cast<double>(c) + 3));
    }
    ValueConverter(type, mean, stddev).convert(std::span(bytes).subspan(1), converted);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t c = i % channels;
      const double scale = c == 1 ? 1 : stddev[c];
      expected[i] = static_cast<float>((static_cast<double>(values[i]) - mean[c]) / scale);
    }
    EXPECT_EQ(bits_of(converted), bits_of(expected)) << to_string(type) << ", " << channels << " channels";
  }
}

TEST(ValueConverter, RoundsOnceWhateverTheTypeAndTheNumberOfChannels) {
  expect_converted(ElementType::kInt8, some_integers<std::int8_t>());
  expect_converted(ElementType::kInt16, some_integers<std::int16_t>());
  expect_converted(ElementType::kInt32, some_integers<std::int32_t>());
  expect_converted(ElementType::kInt64, some_integers<std::int64_t>());
  expect_converted(ElementType::kUint8, some_integers<std::uint8_t>());
  expect_converted(ElementType::kUint16, some_integers<std::uint16_t>());
  expect_converted(ElementType::kUint32, some_integers<std::uint32_t>());
  expect_converted(ElementType::kUint64, some_integers<std::uint64_t>());
  expect_converted(ElementType::kFloat32, some_numbers<float>());
  expect_converted(ElementType::kFloat64, some_numbers<double>());
}

TEST(ValueConverter, FillsWhatIsMissing) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {1, nan, 3, nan, 5, 6};
  const std::vector<double> mean = {2, 4}, stddev = {0.5, 2};
  std::vector<float> converted(values.size());
  ValueConverter(ElementType::kFloat32, mean, stddev, mean).convert(std::as_bytes(std::span(values)), converted);
  EXPECT_EQ(converted, (std::vector<float>{-2, 0, 2, 0, 6, 1}));
  ValueConverter(ElementType::kFloat32, {}, {}, mean).convert(std::as_bytes(std::span(values)), converted);
  EXPECT_EQ(converted, (std::vector<float>{1, 4, 3, 4, 5, 6}));
  ValueConverter(ElementType::kFloat32, {}, {}).convert(std::as_bytes(std::span(values)), converted);
  EXPECT_TRUE(std::isnan(converted[1]));
}

TEST(ValueConverter, ReadsEveryFloat16) {
  std::vector<std::uint16_t> halves(1 << 16);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  std::vector<float> values(halves.size());
  ValueConverter(ElementType::kFloat16, {}, {}).convert(std::as_bytes(std::span(halves)), values);
  for (std::uint32_t i = 0; i < halves.size(); ++i) {
    const auto expected = static_cast<float>(reference::decoded(DataType::kFloat16, i));
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(values[i])) << i;
    else
      EXPECT_EQ(bits_of({&values[i], 1}), bits_of({&expected, 1})) << i;
  }
}

// --- The path --------------------------------------------------------------------------------------------------------

constexpr std::int64_t kMicro = 4;  // 6 samples: 2 steps, the second with 2 padding samples

/// Samples of the arrays a float32 (2), b int16 (3, 2) and c uint8 (1, 2, 3).
class ArrayPathTest : public testing::TestWithParam<std::tuple<bool, DataType>> {
 protected:
  void open(const io::DatasetInfo& info) {
    test::write_arrays(directory_.path(), info, 2);
    dataset_ = std::make_unique<io::Dataset>(directory_.path(), "data.train");
    metadata_.class_names = info.class_names;
    metadata_.target = info.target;
    metadata_.input = io::ArraysInput{.inputs = info.arrays};
  }
  std::unique_ptr<SamplePath> path(SampleView view = SampleView::kTraining) const {
    return make_sample_path(
        {.samples = *dataset_, .metadata = metadata_, .params = params_, .view = view, .type = type()});
  }
  static DataType type() { return std::get<DataType>(GetParam()); }

  /// Returns the values of a feature in both steps.
  std::vector<double> load(const SamplePath& path, const std::string& name, std::int64_t threads = 1) const {
    const auto feature = std::ranges::find(path.features(), name, &FeatureSpec::name);
    if (feature == path.features().end()) return {};
    const Sampler in_order({.num_samples = test::kNumArraySamples, .shuffle = false});
    Loader loader(path, in_order, *backend_,
                  {.batch_global = kMicro,
                   .batch_micro = kMicro,
                   .num_micro_batches = 1,
                   .num_steps = 2,
                   .steps_per_epoch = 2,
                   .features = {{.name = name, .spec = feature->spec}},
                   .threads = threads});
    std::vector<double> values;
    for (int step = 0; step < 2; ++step) {
      loader.begin_step();
      const Buffer memory(backend_->device(), feature->spec.bytes());
      loader.load(name, 0, memory.data());
      std::vector<std::byte> bytes(static_cast<std::size_t>(memory.size_bytes()));
      backend_->device().copy_to_host(bytes.data(), memory.data(), memory.size_bytes());
      const auto size = static_cast<std::size_t>(size_of(feature->spec.type));
      for (std::size_t i = 0; i < bytes.size(); i += size) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, bytes.data() + i, size);
        values.push_back(feature->spec.type == DataType::kInt32 ? static_cast<double>(static_cast<std::int32_t>(bits))
                                                                : reference::decoded(feature->spec.type, bits));
      }
    }
    return values;
  }

  /// Returns what load() must give for an array, by plain loops over the bytes that the file was written from.
  std::vector<double> expected(const io::DatasetInfo& info, std::size_t number, bool normalizes = true) const {
    const io::ArrayInfo& array = info.arrays[number];
    std::size_t offset = 0;
    for (std::size_t i = 0; i < number; ++i) offset += static_cast<std::size_t>(info.arrays[i].bytes());
    const auto count = static_cast<std::size_t>(array.bytes() / size_of(array.type));
    std::vector<double> values;
    for (std::int64_t sample = 0; sample < 2 * kMicro; ++sample)
      for (std::size_t i = 0; i < count; ++i) {
        if (sample >= test::kNumArraySamples) {
          values.push_back(0);
          continue;
        }
        const std::vector<std::byte> record = test::known_record(info, sample);
        const double stored = value_of(array.type, record.data() + offset, i);
        const std::size_t c = i % static_cast<std::size_t>(array.channels());
        const double value = normalizes ? (stored - array.mean[c]) / array.stddev[c] : stored;
        values.push_back(reference::rounded(type(), static_cast<double>(static_cast<float>(value))));
      }
    return values;
  }
  static double value_of(ElementType type, const std::byte* from, std::size_t i) {
    if (type == ElementType::kUint8) return std::to_integer<int>(from[i]);
    std::int16_t integer = 0;
    float number = 0;
    if (type == ElementType::kInt16) return std::memcpy(&integer, from + i * 2, 2), integer;
    return std::memcpy(&number, from + i * 4, 4), static_cast<double>(number);
  }

  const test::TemporaryDirectory directory_;
  std::unique_ptr<io::Dataset> dataset_;
  io::ModelMetadata metadata_;
  Parameters params_{.batch = {.global = kMicro, .micro = kMicro}};
  std::unique_ptr<ops::Backend> backend_ = std::get<bool>(GetParam())
                                               ? emulation::make_emulated_backend()
                                               : ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
};

// The bytes of 'a' are numbers of any size, NaN among them: they are made moderate.
io::DatasetInfo integers_alone(TargetKind kind = kClass) {
  io::DatasetInfo info = test::arrays_info(kind);
  info.arrays[0].type = ElementType::kUint8;
  info.arrays[0].dims = {8};
  info.arrays[0] = test::make_array("a", ElementType::kUint8, {8});
  return info;
}

TEST_P(ArrayPathTest, GivesEachArrayNormalisedOrAsItIs) {
  const io::DatasetInfo info = integers_alone();
  open(info);
  for (const bool normalizes : {true, false}) {
    std::get<io::ArraysInput>(metadata_.input).normalizes = normalizes;
    const auto arrays = path();
    for (const std::int64_t threads : {1, 2, 5})
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(load(*arrays, info.arrays[i].name, threads), expected(info, i, normalizes))
            << info.arrays[i].name << ", " << threads << " threads";
    EXPECT_EQ(arrays->features()[1].spec, (TensorSpec{Shape::sequences(kMicro, 3, 2), type()}));
    EXPECT_EQ(load(*arrays, features::kImage), std::vector<double>{}) << "several arrays have no image";
    EXPECT_EQ(arrays->describe(3), "sample 3 ('row 3') of the arrays from made for a test");
  }
}

TEST_P(ArrayPathTest, ReadsThoseThatTheNetworkKnowsByName) {
  io::DatasetInfo info = integers_alone();
  open(info);
  // The checkpoint's order and statistics, not those of this data set.
  io::ArrayInfo c = info.arrays[2];
  c.mean = {1, 2, 3}, c.stddev = {4, 5, 6};
  metadata_.input = io::ArraysInput{.inputs = {c}};
  info.arrays[2] = c;
  const auto one = path();
  EXPECT_EQ(load(*one, "c"), expected(info, 2));
  EXPECT_EQ(load(*one, features::kImage), expected(info, 2));
  EXPECT_EQ(load(*one, "a"), std::vector<double>{});
  std::get<io::ArraysInput>(metadata_.input).inputs[0].dims = {2, 3};
  EXPECT_EQ(message_of<Error>([&] { path(); }),
            "a network reads the array c uint8 (2, 3), but made for a test holds a uint8 (8), b int16 (3, 2), c uint8 "
            "(1, 2, 3)");
}

TEST_P(ArrayPathTest, GivesLabelsOrTargets) {
  open(integers_alone());
  EXPECT_EQ(load(*path(), features::kLabel), (std::vector<double>{0, 1, 2, 0, 1, 2, ops::kNoLabel, ops::kNoLabel}));
  EXPECT_EQ(load(*path(), features::kTarget), std::vector<double>{});
  for (const TargetKind kind : {kLabels, kNumbers}) {
    open(integers_alone(kind));
    const auto arrays = path();
    EXPECT_EQ(load(*arrays, features::kLabel), std::vector<double>{});
    const std::vector<double> targets = load(*arrays, features::kTarget);
    ASSERT_EQ(targets.size(), 2u * kMicro * 3);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const auto sample = static_cast<std::int64_t>(i / 3);
      const double known = sample < test::kNumArraySamples
                               ? static_cast<double>(test::known_target(kind, sample)[i % 3])
                               : std::numeric_limits<double>::quiet_NaN();
      EXPECT_TRUE(targets[i] == known || (std::isnan(targets[i]) && std::isnan(known))) << i;
    }
  }
}

TEST_P(ArrayPathTest, RefusesWhatIsDoneToImages) {
  open(integers_alone());
  params_.augment.normalize = false;
  EXPECT_EQ(message_of<RequestError>([&] { path(); }), test::kNothingThrown);
  params_.augment.cutout = 3;
  EXPECT_EQ(message_of<RequestError>([&] { path(); }),
            "augment.cutout = 3 changes images, and made for a test holds arrays. Leave it out");
  params_.augment.cutout = 0;
  EXPECT_EQ(message_of<RequestError>([&] { path(SampleView::kMirrored); }),
            "evaluate.mirror = true mirrors images, and made for a test holds arrays. Leave it out");
}

INSTANTIATE_TEST_SUITE_P(, ArrayPathTest,
                         testing::Values(std::tuple(false, DataType::kFloat32), std::tuple(false, DataType::kBfloat16),
                                         std::tuple(true, DataType::kFloat32), std::tuple(true, DataType::kBfloat16),
                                         std::tuple(true, DataType::kFloat16)),
                         [](const auto& instance) {
                           return std::string(std::get<0>(instance.param) ? "OnTheDevice" : "OnTheHost") +
                                  to_string(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace convoy
