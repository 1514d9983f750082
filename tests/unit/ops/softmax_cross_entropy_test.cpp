/// SoftmaxCrossEntropyOp against its definition.
#include "reference/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "convoy/base/error.h"

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::kNoLabel;
using ops::LossSums;
using ops::SoftmaxCrossEntropySpec;

class SoftmaxCrossEntropyTest : public OpTest {
 protected:
  LossSums run(const SoftmaxCrossEntropySpec& spec, const Array& logits, const std::vector<std::int32_t>& labels,
               void* dlogits = nullptr, float loss_scale = 1) {
    return run(*backend_->create<ops::SoftmaxCrossEntropyOp>(spec), logits, labels, dlogits, loss_scale);
  }

  /// The bound in double: log p is up to 20 + log(classes) per row, with as many roundings of 2^-53 as classes, and the
  /// error of each exp is 2^-45.
  static double loss_tolerance(int n, int classes) {
    return n * ((20 + std::log(classes)) * classes * 0x1p-53 + 0x1p-45);
  }

  LossSums run(ops::SoftmaxCrossEntropyOp& op, const Array& logits, const std::vector<std::int32_t>& labels,
               void* dlogits, float loss_scale = 1, const std::vector<ops::MixedLabel>& mixed_labels = {}) {
    const DeviceArray z(*backend_, logits);
    const auto bytes = static_cast<std::int64_t>(labels.size() * sizeof(std::int32_t));
    const Buffer device_labels(backend_->device(), bytes);
    backend_->device().copy_to_device(device_labels.data(), labels.data(), bytes);
    const auto seconds_bytes = static_cast<std::int64_t>(mixed_labels.size() * sizeof(ops::MixedLabel));
    const Buffer device_seconds(backend_->device(), seconds_bytes);
    backend_->device().copy_to_device(device_seconds.data(), mixed_labels.data(), seconds_bytes);
    const HostBuffer sums(backend_->device(), sizeof(LossSums));
    op.run({.logits = z,
            .labels = reinterpret_cast<const std::int32_t*>(device_labels.data()),
            .mixed_labels =
                mixed_labels.empty() ? nullptr : reinterpret_cast<const ops::MixedLabel*>(device_seconds.data()),
            .dlogits = dlogits,
            .loss_scale = loss_scale,
            .sums = reinterpret_cast<LossSums*>(sums.data())});
    backend_->device().synchronize();
    return *reinterpret_cast<const LossSums*>(sums.data());
  }
};

TEST_P(SoftmaxCrossEntropyTest, EqualsItsDefinition) {
  const float loss_scale = 8;
  for (const DataType type : types()) {
    for (const auto& [n, classes, smoothing] : {std::tuple{1, 1, 0.0f},
                                                {1, 2, 0.0f},
                                                {5, 10, 0.0f},
                                                {5, 10, 0.1f},
                                                {7, 37, 1.0f},
                                                {300, 10, 0.1f},
                                                {3, 1000, 0.1f},
                                                {6, 5003, 0.1f},
                                                {3, 20000, 0.0f}}) {
      SCOPED_TRACE(fmt::format("{} samples, {} classes, smoothing {}, {}", n, classes, smoothing, to_string(type)));
      const SoftmaxCrossEntropySpec spec{n, classes, smoothing, 1.0f / 64, type};
      const Array logits = random_array(std::int64_t{n} * classes, 1, 0, 10);
      std::vector<std::int32_t> labels(index(n));
      for (int i = 0; i < n; ++i) labels[index(i)] = i * 7 % classes;
      const DeviceArray dlogits(*backend_, std::int64_t{n} * classes, type);
      const LossSums sums = run(spec, logits, labels, dlogits, loss_scale);
      const auto want = reference::softmax_cross_entropy(spec, logits, labels, loss_scale);
      EXPECT_NEAR(sums.loss, want.sums.loss, loss_tolerance(n, classes));
      EXPECT_EQ(sums.num_correct, want.sums.num_correct);
      EXPECT_EQ(sums.num_samples, want.sums.num_samples);
      // Rounded to float32 once; |dz| <= both scales, below which double's own error of 1e-13 drowns.
      const double largest = double{loss_scale} / 64;
      expect_close("dlogits", dlogits, want.dlogits, Array(want.dlogits.size(), 1.01 * kRounding * largest));
    }
  }
}

TEST_P(SoftmaxCrossEntropyTest, OfTwoLabelsEqualsItsDefinition) {
  const float loss_scale = 8;
  for (const DataType type : types()) {
    for (const auto& [n, classes, smoothing] :
         {std::tuple{1, 2, 0.0f}, {6, 10, 0.0f}, {300, 10, 0.1f}, {5, 1000, 0.1f}, {5, 5003, 0.1f}}) {
      SCOPED_TRACE(fmt::format("{} samples, {} classes, smoothing {}, {}", n, classes, smoothing, to_string(type)));
      const SoftmaxCrossEntropySpec spec{n, classes, smoothing, 1.0f / 64, type};
      const Array logits = random_array(std::int64_t{n} * classes, 1, 0, 10);
      std::vector<std::int32_t> labels(index(n));
      std::vector<ops::MixedLabel> mixed_labels(index(n));
      const float shares[] = {0, 1, 0.5f, 0.25f, 0.75f};  // of one label twice, too
      for (int i = 0; i < n; ++i) {
        labels[index(i)] = i * 7 % classes;
        mixed_labels[index(i)] = {i % 3 == 2 ? labels[index(i)] : i * 5 % classes, shares[i % 5]};
      }
      const DeviceArray dlogits(*backend_, std::int64_t{n} * classes, type);
      const LossSums sums =
          run(*backend_->create<ops::SoftmaxCrossEntropyOp>(spec), logits, labels, dlogits, loss_scale, mixed_labels);
      const auto want = reference::softmax_cross_entropy(spec, logits, labels, loss_scale, mixed_labels);
      EXPECT_NEAR(sums.loss, want.sums.loss, loss_tolerance(n, classes));
      EXPECT_EQ(sums.num_correct, want.sums.num_correct);
      EXPECT_EQ(sums.num_samples, n);
      const double largest = double{loss_scale} / 64;
      expect_close("dlogits", dlogits, want.dlogits, Array(want.dlogits.size(), 1.01 * kRounding * largest));
    }
  }
}

TEST_P(SoftmaxCrossEntropyTest, WithWeightsOfClassesEqualsItsDefinition) {
  for (const DataType type : types()) {
    for (const auto& [n, classes, smoothing] :
         {std::tuple{1, 2, 0.0f}, {6, 10, 0.0f}, {300, 10, 0.1f}, {5, 1000, 0.1f}, {5, 5003, 0.1f}}) {
      SCOPED_TRACE(fmt::format("{} samples, {} classes, smoothing {}, {}", n, classes, smoothing, to_string(type)));
      SoftmaxCrossEntropySpec spec{n, classes, smoothing, 1.0f / 64, type};
      for (int k = 0; k < classes; ++k) spec.class_weights.push_back(static_cast<float>(k * 3 % 7) / 2);  // 0 to 3
      const Array logits = random_array(std::int64_t{n} * classes, 1, 0, 10);
      std::vector<std::int32_t> labels(index(n));
      std::vector<ops::MixedLabel> mixed_labels(index(n));
      for (int i = 0; i < n; ++i) {
        labels[index(i)] = i * 7 % classes;
        mixed_labels[index(i)] = {i * 5 % classes, static_cast<float>(i % 3) / 4};
      }
      const auto op = backend_->create<ops::SoftmaxCrossEntropyOp>(spec);
      const DeviceArray dlogits(*backend_, std::int64_t{n} * classes, type);
      const LossSums sums = run(*op, logits, labels, dlogits, 8, mixed_labels);
      const auto want = reference::softmax_cross_entropy(spec, logits, labels, 8, mixed_labels);
      EXPECT_NEAR(sums.loss, want.sums.loss, 3 * loss_tolerance(n, classes));  // the largest weight
      EXPECT_EQ(sums.num_correct, want.sums.num_correct);
      EXPECT_EQ(sums.num_samples, n);
      const double largest = 3 * 8.0 / 64;
      expect_close("dlogits", dlogits, want.dlogits, Array(want.dlogits.size(), 1.01 * kRounding * largest));
    }
  }
}

TEST_P(SoftmaxCrossEntropyTest, TheLabelWithTheLargerShareIsTheAnswerTheFirstAmongEquals) {
  const auto op = backend_->create<ops::SoftmaxCrossEntropyOp>({1, 3, 0, 1});
  const auto correct = [&](float share) { return run(*op, {1, 5, 3}, {0}, nullptr, 1, {{1, share}}).num_correct; };
  EXPECT_EQ(correct(0.75f), 1);
  EXPECT_EQ(correct(0.5f), 0);
  EXPECT_EQ(correct(0.25f), 0);
}

TEST_P(SoftmaxCrossEntropyTest, MixedLabelsOfShareZeroChangeNoBit) {
  const Array logits = random_array(40, 1, 0, 10);
  const std::vector<std::int32_t> labels = {1, 9, kNoLabel, 0};
  const auto op = backend_->create<ops::SoftmaxCrossEntropyOp>({4, 10, 0.1f, 1});
  const DeviceArray alone(*backend_, 40), both(*backend_, 40);
  const LossSums a = run(*op, logits, labels, alone);
  const LossSums b = run(*op, logits, labels, both, 1, {{5, 0}, {9, 0}, {0, 0}, {3, 0}});
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.num_correct, b.num_correct);
  EXPECT_EQ(b.num_samples, 3);
  EXPECT_EQ(bits(alone), bits(both));
}

TEST_P(SoftmaxCrossEntropyTest, SamplesWithoutLabelCountForNothingAndGetZeroGradient) {
  const SoftmaxCrossEntropySpec spec{3, 4, 0.1f, 1};
  const Array logits = random_array(12, 1);
  const DeviceArray dlogits(*backend_, 12);
  const LossSums sums = run(spec, logits, {2, kNoLabel, 0}, dlogits);
  const Array kept = {logits[0], logits[1], logits[2], logits[3], logits[8], logits[9], logits[10], logits[11]};
  const LossSums alone = run({2, 4, 0.1f, 1}, kept, {2, 0});
  EXPECT_EQ(sums.loss, alone.loss);
  EXPECT_EQ(sums.num_samples, 2);
  const std::vector<float> values = dlogits.values();
  EXPECT_EQ(std::vector<float>(values.begin() + 4, values.begin() + 8), std::vector<float>(4, 0.0f));
}

// The rows are words of a vocabulary, most of which are not to be predicted.
TEST_P(SoftmaxCrossEntropyTest, CountsTheRowsThatHaveALabel) {
  constexpr std::int64_t kRows = 60, kClasses = 5000;
  const SoftmaxCrossEntropySpec spec{kRows, kClasses, 0, 1};
  const Array logits = random_array(kRows * kClasses, 1, 0, 10);
  std::vector<std::int32_t> labels(kRows, kNoLabel);
  for (std::size_t n = 3; n < kRows; n += 7) labels[n] = static_cast<std::int32_t>(n) * 80;
  labels[10] =
      static_cast<std::int32_t>(std::max_element(logits.begin() + 10 * kClasses, logits.begin() + 11 * kClasses) -
                                (logits.begin() + 10 * kClasses));
  const DeviceArray dlogits(*backend_, kRows * kClasses);
  const LossSums sums = run(spec, logits, labels, dlogits);
  const auto want = reference::softmax_cross_entropy(spec, logits, labels);
  EXPECT_EQ(sums.num_samples, 9);
  EXPECT_EQ(sums.num_correct, want.sums.num_correct);
  EXPECT_GE(sums.num_correct, 1);
  EXPECT_NEAR(sums.loss, want.sums.loss, loss_tolerance(9, kClasses));
  expect_close("dlogits", dlogits, want.dlogits, Array(want.dlogits.size(), 1.01 * kRounding));
}

// Rows of many classes are computed in another way than short ones.
TEST_P(SoftmaxCrossEntropyTest, NonFiniteLogitsAmongManyGiveANonFiniteLoss) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity}) {
    for (const std::size_t position : {0, 2500, 5000}) {
      Array logits = random_array(5001, 1);
      logits[position] = bad;
      const LossSums sums = run({1, 5001, 0, 1}, logits, {2});
      EXPECT_FALSE(std::isfinite(sums.loss)) << bad << " at " << position;
      EXPECT_EQ(sums.num_correct, 0);
    }
  }
}

TEST_P(SoftmaxCrossEntropyTest, TheFirstAmongManyEqualLogitsIsTheAnswer) {
  Array logits(5001, 1.0);
  logits[300] = logits[4000] = 5;
  EXPECT_EQ(run({1, 5001, 0, 1}, logits, {300}).num_correct, 1);
  EXPECT_EQ(run({1, 5001, 0, 1}, logits, {4000}).num_correct, 0);
}

TEST_P(SoftmaxCrossEntropyTest, StaysFiniteForHugeLogits) {
  const DeviceArray dlogits(*backend_, 6);
  const LossSums sums = run({2, 3, 0.1f, 1}, {3e38, -3e38, 0, -3e38, -3e38, -3e38}, {1, 0}, dlogits);
  EXPECT_TRUE(std::isfinite(sums.loss));
  for (const float value : dlogits.values()) EXPECT_TRUE(std::isfinite(value));
}

TEST_P(SoftmaxCrossEntropyTest, NonFiniteLogitsGiveANonFiniteLossAndNoHit) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity}) {
    for (const std::size_t position : {0, 1, 2}) {
      for (const float smoothing : {0.0f, 0.1f}) {
        Array logits = {1, 2, 3};
        logits[position] = bad;
        const LossSums sums = run({1, 3, smoothing, 1}, logits, {2});
        EXPECT_FALSE(std::isfinite(sums.loss)) << bad << " at " << position << ", smoothing " << smoothing;
        EXPECT_EQ(sums.num_correct, 0);
        EXPECT_EQ(sums.num_samples, 1);
      }
    }
  }
}

TEST_P(SoftmaxCrossEntropyTest, TheFirstAmongEqualLogitsIsTheAnswer) {
  EXPECT_EQ(run({1, 3, 0, 1}, {1, 5, 5}, {1}).num_correct, 1);
  EXPECT_EQ(run({1, 3, 0, 1}, {1, 5, 5}, {2}).num_correct, 0);
}

// The scratch memory moves when a larger operation is created.
TEST_P(SoftmaxCrossEntropyTest, GivesTheSameBitsInEveryRunOfOneOperation) {
  const Array logits = random_array(70 * 1000, 1, 0, 10);
  const std::vector<std::int32_t> labels(70, 5);
  const auto op = backend_->create<ops::SoftmaxCrossEntropyOp>({70, 1000, 0.1f, 1});
  const DeviceArray first(*backend_, 70 * 1000);
  const double loss = run(*op, logits, labels, first).loss;
  const auto larger = backend_->create<ops::SoftmaxCrossEntropyOp>({10000, 10});
  for (int repeat = 0; repeat < 3; ++repeat) {
    const DeviceArray again(*backend_, 70 * 1000);
    const LossSums sums = run(*op, logits, labels, again);
    EXPECT_EQ(sums.loss, loss);
    EXPECT_EQ(sums.num_samples, 70);
    EXPECT_EQ(bits(again), bits(first));
  }
}

// The CPU throws; a GPU, which cannot, makes the loss NaN, so that the step fails.
TEST_P(SoftmaxCrossEntropyTest, LabelsThatAreNoClassAreNeverTakenForOne) {
  for (const std::int32_t label : {3, -2}) {
    try {
      EXPECT_TRUE(std::isnan(run({1, 3, 0, 1}, {1, 2, 3}, {label}).loss)) << label;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(fmt::format("label {}", label)), std::string::npos) << error.what();
    }
    try {
      const auto op = backend_->create<ops::SoftmaxCrossEntropyOp>({1, 3, 0, 1});
      EXPECT_TRUE(std::isnan(run(*op, {1, 2, 3}, {1}, nullptr, 1, {{label, 0.5f}}).loss)) << label;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(fmt::format("label {}", label)), std::string::npos) << error.what();
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(SoftmaxCrossEntropyTest);

}  // namespace
}  // namespace convoy
