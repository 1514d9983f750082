/// TargetLossOp against its definition.
#include "reference/target_loss.h"

#include <cmath>
#include <limits>

#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::SampleScore;
using ops::TargetLossKind;
using ops::TargetLossSpec;

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr TargetLossKind kKinds[] = {TargetLossKind::kBinaryCrossEntropy, TargetLossKind::kSquaredError,
                                     TargetLossKind::kAbsoluteError, TargetLossKind::kHuberError};

std::int64_t count_of(const TargetLossSpec& spec) {
  return spec.n * spec.num_pixels * spec.num_outputs;
}

/// Labels are 0, 1 or 1/4, numbers lie around 3.
Array targets_for(const TargetLossSpec& spec) {
  Array targets = random_array(count_of(spec), 7, 3, 4);
  if (spec.kind == TargetLossKind::kBinaryCrossEntropy)
    for (double& target : targets) target = target < 2 ? 0 : target < 5 ? 1 : 0.25;
  return targets;
}

/// Scores as device memory has them: three float32 for each sample.
SampleScore* scores_at(const DeviceArray& array) {
  return reinterpret_cast<SampleScore*>(array.data());
}

/// The results of one operation. Its memory of scores and gradients is poisoned before.
struct Results {
  Results(ops::Backend& backend, const TargetLossSpec& spec, const Array& targets, const Array& outputs,
          const Array& dloss)
      : scores(backend, 3 * spec.n), doutputs(backend, count_of(spec), spec.type) {
    Array gradients;
    for (const double value : dloss) gradients.insert(gradients.end(), {value, 99.0, -99.0});  // counts have none
    const DeviceArray y(backend, outputs), t(backend, targets), dscores(backend, gradients);
    const auto op = backend.create<ops::TargetLossOp>(spec);
    op->forward(y, t, scores_at(scores));
    op->backward(y, t, scores_at(scores), scores_at(dscores), doutputs);
    if (spec.type != DataType::kFloat32) return;
    op->backward(y, t, scores_at(scores), scores_at(dscores), y);
    EXPECT_EQ(bits(y), bits(doutputs)) << "over the outputs";
  }

  DeviceArray scores, doutputs;
};

class TargetLossTest : public OpTest {
 protected:
  Results run(const TargetLossSpec& spec, const Array& targets, const Array& outputs, const Array& dloss) {
    return {*backend_, spec, targets, outputs, dloss};
  }

  /// Computed in double, all results are rounded to float32 once. 1e-12 bounds the errors in double: a few roundings of
  /// numbers below 1000.
  void expect_definition(const TargetLossSpec& spec, const Array& targets, const Array& outputs) {
    const Array dloss = random_array(spec.n, 2);
    const Results got = run(spec, targets, outputs, dloss);
    const auto want = reference::target_scores(spec, targets, outputs);
    const Array scores = got.scores.doubles();
    for (std::size_t n = 0; n < index(spec.n); ++n) {
      EXPECT_NEAR(scores[3 * n], want.loss[n], 1.01 * kRounding * want.loss[n] + 1e-12) << n;
      EXPECT_EQ(scores[3 * n + 1], want.num_correct[n]) << n;
      EXPECT_EQ(scores[3 * n + 2], want.num_labels[n]) << n;
    }
    const Array gradient = reference::target_gradient(spec, targets, outputs, dloss);
    Array allowed = absolute(gradient);
    for (double& value : allowed) value = 1.01 * kRounding * value + 1e-12;
    expect_close("doutputs", got.doutputs, gradient, allowed);
  }
};

TEST_P(TargetLossTest, EqualsItsDefinition) {
  for (const TargetLossKind kind : kKinds) {
    for (const DataType type : types()) {
      for (TargetLossSpec spec : {TargetLossSpec{.n = 1, .num_outputs = 1},
                                  {.n = 300, .num_outputs = 3},
                                  {.n = 2, .num_outputs = 513},
                                  {.n = 3, .num_pixels = 100, .num_outputs = 7, .huber_delta = 2.5f},
                                  {.n = 2, .num_pixels = 171, .num_outputs = 3},  // 513 values
                                  {.n = 5, .num_pixels = 900, .num_outputs = 8}}) {
        spec.kind = kind;
        spec.type = type;
        SCOPED_TRACE(fmt::format("kind {}, {} samples of {} pixels, {} outputs, {}", static_cast<int>(kind), spec.n,
                                 spec.num_pixels, spec.num_outputs, to_string(type)));
        expect_definition(spec, targets_for(spec), random_array(count_of(spec), 1, 0, 10));
      }
    }
  }
}

TEST_P(TargetLossTest, WithWeightsAndStandardisedTargetsEqualsItsDefinition) {
  for (const TargetLossKind kind : kKinds) {
    TargetLossSpec spec{.n = 4, .num_pixels = 150, .num_outputs = 5, .kind = kind, .weights = {1, 0, 3.5f, 0.25f, 2}};
    Array targets = targets_for(spec);
    if (kind != TargetLossKind::kBinaryCrossEntropy) {
      spec.mean = {1, -2, 3e5, 0, 0.5};
      spec.stddev = {0.5, 3, 1e5, 0, 1e-3};  // 0 counts as 1
      for (std::size_t i = 2; i < targets.size(); i += 5) targets[i] *= 0x1p17;
    }
    SCOPED_TRACE(static_cast<int>(kind));
    expect_definition(spec, targets, random_array(count_of(spec), 1, 0, 3));
  }
}

// The values that the functions of torch.nn.functional have by their formulas, worked out by hand.
TEST_P(TargetLossTest, HasTheValuesThatAreWorkedOutByHand) {
  const Array outputs = {1, -2, 0.5, 4}, targets = {0, -4, 0.5, 1};  // d = 1, 2, 0, 3
  const auto expect = [&](const TargetLossSpec& spec, const Array& t, double loss, const Array& gradient) {
    const Results got = run(spec, t, outputs, {4});
    EXPECT_EQ(got.scores.values().front(), static_cast<float>(loss));
    EXPECT_EQ(got.doutputs.values(), std::vector<float>(gradient.begin(), gradient.end()));
  };
  TargetLossSpec spec{.n = 1, .num_outputs = 4, .kind = TargetLossKind::kSquaredError};
  expect(spec, targets, 14.0 / 4, {2, 4, 0, 6});
  spec.kind = TargetLossKind::kAbsoluteError;
  expect(spec, targets, 6.0 / 4, {1, 1, 0, 1});
  spec.kind = TargetLossKind::kHuberError;
  spec.huber_delta = 2;  // 0.5, 2 (at the border), 0, 2 (3 - 1)
  expect(spec, targets, 6.5 / 4, {1, 2, 0, 2});
  spec.kind = TargetLossKind::kBinaryCrossEntropy;
  spec.weights = {3, 1, 1, 1};
  const auto softplus = [](double y) { return std::log(1 + std::exp(y)); };
  const auto sigmoid = [](double y) { return 1 / (1 + std::exp(-y)); };
  expect(spec, {1, 0, 0, 1}, (3 * softplus(-1) + softplus(-2) + softplus(0.5) + softplus(-4)) / 4,
         {3 * (sigmoid(1) - 1), sigmoid(-2), sigmoid(0.5), sigmoid(4) - 1});
}

TEST_P(TargetLossTest, TargetsThatAreNotKnownDoNotCount) {
  for (const TargetLossKind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    const TargetLossSpec spec{.n = 3, .num_pixels = 200, .num_outputs = 3, .kind = kind};
    Array targets = targets_for(spec), outputs = random_array(count_of(spec), 1, 0, 3);
    for (std::size_t i = 0; i < 600; i += 7) targets[i] = kNotKnown;
    for (std::size_t i = 600; i < 1200; ++i) targets[i] = kNotKnown;  // none of the second sample
    outputs[7] = HUGE_VAL;                                            // which is not read
    const Results got = run(spec, targets, outputs, {1, 1, 1});
    outputs[7] = 0;
    expect_definition(spec, targets, outputs);
    const std::vector<float> scores = got.scores.values(), gradient = got.doutputs.values();
    EXPECT_EQ(scores[2], 600 - 86);
    EXPECT_TRUE(std::isfinite(scores[0]));
    EXPECT_EQ(std::vector<float>(scores.begin() + 3, scores.begin() + 6), std::vector<float>(3, 0.0f));
    EXPECT_EQ(gradient[7], 0);
    EXPECT_EQ(std::vector<float>(gradient.begin() + 600, gradient.begin() + 1200), std::vector<float>(600, 0.0f));
  }
}

TEST_P(TargetLossTest, StaysFiniteForHugeOutputsAsFarAsFloat32Reaches) {
  const Array labels = {1, 0, 1, 0}, outputs = {3e38, 3e38, -3e38, -3e38};
  const TargetLossSpec spec{.n = 4, .num_outputs = 1, .kind = TargetLossKind::kBinaryCrossEntropy};
  const Results got = run(spec, labels, outputs, Array(4, 1));
  const std::vector<float> scores = got.scores.values();
  EXPECT_EQ((std::vector<float>{scores[0], scores[3], scores[6], scores[9]}), (std::vector<float>{0, 3e38f, 3e38f, 0}));
  EXPECT_EQ(got.doutputs.values(), (std::vector<float>{0, 1, -1, 0}));
  for (const TargetLossKind kind : {TargetLossKind::kAbsoluteError, TargetLossKind::kHuberError}) {
    const Results large = run({.n = 4, .num_outputs = 1, .kind = kind}, labels, outputs, Array(4, 1));
    EXPECT_EQ(large.scores.values()[6], 3e38f);
    EXPECT_EQ(large.doutputs.values(), (std::vector<float>{1, 1, -1, -1}));
  }
  EXPECT_EQ(run({.n = 1, .num_outputs = 1}, {0}, {0x1p63}, {1}).scores.values().front(), 0x1p126f);
}

TEST_P(TargetLossTest, NonFiniteOutputsGiveANonFiniteLossAndNoHit) {
  for (const TargetLossKind kind : kKinds) {
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      for (const double target : {0.0, 1.0}) {
        SCOPED_TRACE(fmt::format("kind {}, output {}, target {}", static_cast<int>(kind), bad, target));
        Array outputs(700), targets(700, target);
        outputs[600] = bad;
        const auto scores = run({.n = 1, .num_outputs = 700, .kind = kind}, targets, outputs, {1}).scores.values();
        EXPECT_FALSE(std::isfinite(scores[0]));
        const bool is_label = kind == TargetLossKind::kBinaryCrossEntropy;
        EXPECT_EQ(scores[1], is_label && target == 0 ? 699 : 0);  // an output of 0 says no
        EXPECT_EQ(scores[2], 700);
      }
    }
  }
}

// So a step's bits do not depend on the size of a micro-batch.
TEST_P(TargetLossTest, ASamplesBitsDoNotDependOnTheOthers) {
  for (const TargetLossKind kind : kKinds) {
    const TargetLossSpec all{.n = 6, .num_pixels = 200, .num_outputs = 7, .kind = kind};
    TargetLossSpec one = all;
    one.n = 1;
    const Array targets = targets_for(all), outputs = random_array(count_of(all), 1, 0, 3);
    const Results together = run(all, targets, outputs, Array(6, 0.125));
    for (std::ptrdiff_t n = 0; n < 6; ++n) {
      const auto own = [n](const auto& values, std::ptrdiff_t count) {
        return std::remove_cvref_t<decltype(values)>(values.begin() + n * count, values.begin() + (n + 1) * count);
      };
      const Results alone = run(one, own(targets, 1400), own(outputs, 1400), {0.125});
      EXPECT_EQ(bits(alone.scores), own(bits(together.scores), 3));
      EXPECT_EQ(bits(alone.doutputs), own(bits(together.doutputs), 1400));
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(TargetLossTest);

TEST(TargetLossOnTheCpu, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const TargetLossKind kind : kKinds) {
    const TargetLossSpec spec{.n = 3, .num_pixels = 5001, .num_outputs = 3, .kind = kind};
    const Array targets = targets_for(spec), outputs = random_array(count_of(spec), 1, 0, 3);
    std::vector<std::uint32_t> scores, gradient;
    for (const int threads : {1, 2, 3, 8}) {
      const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
      const Results got(*backend, spec, targets, outputs, {0.5, -1, 2});
      if (threads == 1) {
        scores = bits(got.scores);
        gradient = bits(got.doutputs);
      }
      EXPECT_EQ(bits(got.scores), scores) << threads;
      EXPECT_EQ(bits(got.doutputs), gradient) << threads;
    }
  }
}

}  // namespace
}  // namespace convoy
