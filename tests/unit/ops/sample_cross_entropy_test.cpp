/// SampleCrossEntropyOp and ScoreSumsOp against their definitions.
#include "reference/sample_cross_entropy.h"

#include <cmath>
#include <limits>

#include "convoy/base/error.h"
#include "convoy/ops/score_sums.h"

#include "unit/ops/device_ints.h"
#include "unit/ops/op_test.h"

namespace convoy {
namespace {

using ops::kNoLabel;
using ops::LossSums;
using ops::SampleCrossEntropySpec;
using ops::SampleScore;

/// Labels like those of masked words: in all rows of some samples, in the first rows of others, in none of the last.
std::vector<std::int32_t> labels_for(const SampleCrossEntropySpec& spec) {
  std::vector<std::int32_t> labels;
  for (std::int64_t n = 0; n < spec.n; ++n)
    for (std::int64_t k = 0; k < spec.num_rows; ++k) {
      const bool is_asked = n + 1 < spec.n || spec.n == 1 ? k <= n % spec.num_rows || n % 3 == 0 : false;
      labels.push_back(is_asked ? static_cast<std::int32_t>((n * 7 + k * 13) % spec.num_classes) : kNoLabel);
    }
  return labels;
}

class SampleCrossEntropyTest : public OpTest {
 protected:
  /// The float32 values of an array as scores: three for each sample.
  static SampleScore* scores_at(const DeviceArray& array) { return reinterpret_cast<SampleScore*>(array.data()); }
  static Array gradients(const Array& dloss) {
    Array all;
    for (const double value : dloss) all.insert(all.end(), {value, 99.0, -99.0});  // counts have no gradient
    return all;
  }

  Array scores(const SampleCrossEntropySpec& spec, const Array& logits, const std::vector<std::int32_t>& labels) {
    const DeviceInts device_labels(backend_->device(), labels);
    const DeviceArray z(*backend_, logits), result(*backend_, 3 * spec.n);
    backend_->create<ops::SampleCrossEntropyOp>(spec)->forward(z, device_labels, scores_at(result));
    return result.doubles();
  }
};

TEST_P(SampleCrossEntropyTest, EqualsItsDefinition) {
  for (const DataType type : types()) {
    for (SampleCrossEntropySpec spec : {SampleCrossEntropySpec{.n = 1, .num_rows = 1, .num_classes = 1},
                                        {.n = 5, .num_rows = 1, .num_classes = 2},
                                        {.n = 7, .num_rows = 4, .num_classes = 37},
                                        {.n = 4, .num_rows = 25, .num_classes = 1000},
                                        {.n = 300, .num_rows = 2, .num_classes = 10},
                                        {.n = 3, .num_rows = 3, .num_classes = 5003}}) {
      spec.type = type;
      SCOPED_TRACE(fmt::format("{} samples of {} rows, {} classes, {}", spec.n, spec.num_rows, spec.num_classes,
                               to_string(type)));
      const std::int64_t count = spec.n * spec.num_rows * spec.num_classes;
      const Array logits = random_array(count, 1, 0, 10), dloss = random_array(spec.n, 2);
      const std::vector<std::int32_t> labels = labels_for(spec);
      const auto want = reference::sample_scores(spec, labels, logits);
      const Array got = scores(spec, logits, labels);
      for (std::size_t n = 0; n < index(spec.n); ++n) {
        // Errors in double, as in SoftmaxCrossEntropyOp, are far below the one rounding to float32.
        EXPECT_NEAR(got[3 * n], want.loss[n], 1.01 * kRounding * want.loss[n] + 1e-12) << n;
        EXPECT_EQ(got[3 * n + 1], want.num_correct[n]) << n;
        EXPECT_EQ(got[3 * n + 2], want.num_labels[n]) << n;
      }
      const DeviceInts device_labels(backend_->device(), labels);
      const DeviceArray z(*backend_, logits), dscores(*backend_, gradients(dloss)), dlogits(*backend_, count, type);
      const auto op = backend_->create<ops::SampleCrossEntropyOp>(spec);
      op->backward(z, device_labels, scores_at(dscores), dlogits);
      expect_close("dlogits", dlogits, reference::sample_gradient(spec, labels, logits, dloss),
                   Array(index(count), 1.01 * kRounding));  // one rounding of what is at most 1
      if (type != DataType::kFloat32) continue;
      op->backward(z, device_labels, scores_at(dscores), z);
      EXPECT_EQ(bits(z), bits(dlogits)) << "over the logits";
    }
  }
}

// So a step's bits do not depend on the division of samples into blocks.
TEST_P(SampleCrossEntropyTest, ASamplesBitsDoNotDependOnTheOthers) {
  for (const std::int64_t classes : {37, 5003}) {
    const SampleCrossEntropySpec all{.n = 6, .num_rows = 3, .num_classes = classes};
    SampleCrossEntropySpec two = all;
    two.n = 2;
    const Array logits = random_array(18 * classes, 1, 0, 10);
    const std::vector<std::int32_t> labels = labels_for(all);
    const Array together = scores(all, logits, labels);
    for (std::ptrdiff_t block = 0; block < 3; ++block) {
      const Array own(logits.begin() + block * 6 * classes, logits.begin() + (block + 1) * 6 * classes);
      const std::vector<std::int32_t> own_labels(labels.begin() + block * 6, labels.begin() + (block + 1) * 6);
      EXPECT_EQ(scores(two, own, own_labels), Array(together.begin() + block * 6, together.begin() + (block + 1) * 6));
    }
  }
}

TEST_P(SampleCrossEntropyTest, NonFiniteLogitsGiveANonFiniteLossAndNoHit) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    for (const std::int64_t classes : {3, 5001}) {
      Array logits = random_array(2 * classes, 1);
      logits[index(classes + 1)] = bad;
      const Array got = scores({.n = 1, .num_rows = 2, .num_classes = classes}, logits, {kNoLabel, 1});
      EXPECT_FALSE(std::isfinite(got[0])) << bad;
      EXPECT_EQ(got[1], 0);
      EXPECT_EQ(got[2], 1);
    }
  }
}

// The CPU throws; a GPU, which cannot, makes the loss NaN, so that the step fails.
TEST_P(SampleCrossEntropyTest, LabelsThatAreNoClassAreNeverTakenForOne) {
  for (const std::int32_t label : {3, -2}) {
    try {
      EXPECT_TRUE(std::isnan(scores({.n = 1, .num_rows = 2, .num_classes = 3}, Array(6, 0.5), {1, label}).front()));
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(fmt::format("label {}", label)), std::string::npos) << error.what();
    }
  }
}

TEST_P(SampleCrossEntropyTest, ScoresAreAddedUpForEachObjectiveAndTheGradientBegins) {
  for (const std::int64_t n : {1, 5, 700}) {
    Array scores = random_array(2 * n * 3, 1, 3, 2);
    for (std::size_t i = 0; i < scores.size(); i += 3) {
      scores[i + 1] = static_cast<double>(i % 4);
      scores[i + 2] = i % 5 == 0 ? 0 : 7;
    }
    const DeviceArray device_scores(*backend_, scores), dscores(*backend_, 2 * n * 3);
    const HostBuffer sums(backend_->device(), 2 * static_cast<std::int64_t>(sizeof(LossSums)));
    const auto op = backend_->create<ops::ScoreSumsOp>({.n = n, .num_objectives = 2, .gradient_scale = 0.125f});
    op->run({.scores = scores_at(device_scores),
             .dscores = scores_at(dscores),
             .loss_scale = 4,
             .sums = reinterpret_cast<LossSums*>(sums.data())});
    backend_->device().synchronize();
    const Array gradient = dscores.doubles();
    for (std::int64_t o = 0; o < 2; ++o) {
      double loss = 0, correct = 0, labels = 0;
      std::int64_t samples = 0;
      for (std::int64_t i = o * n; i < (o + 1) * n; ++i) {
        loss += scores[index(3 * i)], correct += scores[index(3 * i + 1)], labels += scores[index(3 * i + 2)];
        samples += scores[index(3 * i + 2)] > 0 ? 1 : 0;
        EXPECT_EQ(gradient[index(3 * i)], 0.5);
        EXPECT_EQ(gradient[index(3 * i + 1)], 0);
        EXPECT_EQ(gradient[index(3 * i + 2)], 0);
      }
      const LossSums& got = reinterpret_cast<const LossSums*>(sums.data())[o];
      EXPECT_NEAR(got.loss, loss, static_cast<double>(n) * loss * 0x1p-53);
      EXPECT_EQ(static_cast<double>(got.num_correct), correct);
      EXPECT_EQ(static_cast<double>(got.num_labels), labels);
      EXPECT_EQ(got.num_samples, samples);
    }
  }
}

CONVOY_RUN_ON_ALL_BACKENDS(SampleCrossEntropyTest);

}  // namespace
}  // namespace convoy
