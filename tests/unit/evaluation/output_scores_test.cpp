/// Scores of outputs against plain definitions: average precisions, labels at probability 1/2, errors of numbers.
#include "evaluation/output_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "evaluation/output_channel.h"
#include "unit/messages.h"

namespace convoy {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

/// Samples whose targets are given; they have no inputs.
class Targets final : public io::SampleStore {
 public:
  Targets(const Target& target, std::vector<std::vector<float>> rows) : rows_(std::move(rows)) {
    info_.kind = input_kinds::kArrays;
    info_.num_samples = std::ssize(rows_);
    info_.target = target;
    const auto num_outputs = std::ssize(rows_.front()) / target.shape.length();
    for (std::int64_t k = 0; k < num_outputs; ++k) info_.class_names.push_back(std::to_string(k));
  }

  const io::DatasetInfo& info() const override { return info_; }
  void read_target(std::int64_t sample, std::span<float> values) const override {
    std::ranges::copy(rows_.at(static_cast<std::size_t>(sample)), values.begin());
  }
  std::int32_t label(std::int64_t) const override { return ops::kNoLabel; }
  std::string name(std::int64_t) const override { return ""; }

 private:
  std::vector<std::vector<float>> rows_;
  io::DatasetInfo info_;
};

class Random {
 public:
  std::uint32_t below(std::uint32_t limit) {
    state_ = state_ * 1664525U + 1013904223U;
    return (state_ >> 8) % limit;
  }

 private:
  std::uint32_t state_ = 1;
};

/// The definition, with a loop over all samples for each threshold.
double plain_average_precision(const std::vector<float>& with, const std::vector<float>& without) {
  std::set<float, std::greater<>> thresholds(with.begin(), with.end());
  thresholds.insert(without.begin(), without.end());
  double sum = 0, recall_before = 0;
  for (const float threshold : thresholds) {
    const auto is_above = [threshold](float y) { return y >= threshold; };
    const auto right = static_cast<double>(std::ranges::count_if(with, is_above)),
               wrong = static_cast<double>(std::ranges::count_if(without, is_above));
    const double recall = right / static_cast<double>(with.size());
    sum += (recall - recall_before) * right / (right + wrong);
    recall_before = recall;
  }
  return sum;
}

// The example of scikit-learn's documentation of average_precision_score gives 0.83.
TEST(AveragePrecision, IsThatOfTheExample) {
  std::vector<float> with = {0.35F, 0.8F}, without = {0.1F, 0.4F};
  EXPECT_DOUBLE_EQ(average_precision(with, without), (1 + 2.0 / 3) / 2);
}

TEST(AveragePrecision, IsThatOfPlainLoopsWithManyEqualOutputs) {
  Random random;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<float> with(1 + random.below(20)), without(random.below(20));
    for (auto* outputs : {&with, &without})
      for (float& y : *outputs) y = static_cast<float>(random.below(8)) - 4;
    const double wanted = plain_average_precision(with, without);
    EXPECT_NEAR(average_precision(with, without), wanted, 1e-14);  // 40 additions of numbers below 1
  }
}

TEST(AveragePrecision, NeedsASampleWithTheLabel) {
  std::vector<float> with, without = {1};
  EXPECT_TRUE(std::isnan(average_precision(with, without)));
}

TEST(LabelScores, CountLabelsAtProbabilityOneHalfAndLeaveOutUnknownOnes) {
  const Targets targets({.kind = TargetKind::kLabels, .shape = Shape::vectors(1, 3)},
                        {{1, 0, 0}, {1, 1, 0}, {0, kUnknown, 0}});
  LabelScores scores(targets);
  scores.add(0, std::vector<float>{0.5F, 0, -1});  // 0 has probability 1/2: not predicted
  scores.add(1, std::vector<float>{-0.5F, 2, -1});
  scores.add(2, std::vector<float>{0.25F, 9, 1});
  StepMetrics total{{{.loss = 1, .num_samples = 3}}};
  scores.write_to(total);
  EXPECT_EQ(total.classes, (std::vector<ClassCounts>{{.num_samples = 2, .num_predicted = 2, .num_correct = 1},
                                                     {.num_samples = 1, .num_predicted = 1, .num_correct = 1},
                                                     {.num_samples = 0, .num_predicted = 1, .num_correct = 0}}));
  ASSERT_EQ(total.average_precisions.size(), 3U);
  EXPECT_DOUBLE_EQ(total.average_precisions[0], (1 + 2.0 / 3) / 2);
  EXPECT_EQ(total.average_precisions[1], 1);
  EXPECT_TRUE(std::isnan(total.average_precisions[2]));
  EXPECT_EQ(total.objectives.front().loss, 1) << "the loss stays";
  // F1 of the labels: 1/2, 1, 0
  EXPECT_DOUBLE_EQ(metrics::macro_f1(total.counts()), 0.5);
}

TEST(LabelScores, AnOutputThatIsNotANumberHasNoAveragePrecision) {
  const Targets targets({.kind = TargetKind::kLabels}, {{1}, {0}});
  LabelScores scores(targets);
  scores.add(0, std::vector<float>{kUnknown});
  scores.add(1, std::vector<float>{0});
  StepMetrics total;
  scores.write_to(total);
  EXPECT_TRUE(std::isnan(total.average_precisions.front()));
}

TEST(LabelScores, OfTooManyOutputsHaveNoAveragePrecisionsAndSaySo) {
  io::DatasetInfo info;
  info.class_names = {"a", "b"};
  info.target.kind = TargetKind::kLabels;
  info.num_samples = kMaxKeptOutputs / 2;
  EXPECT_EQ(why_no_average_precision(info, "data.val"), "");
  ++info.num_samples;
  EXPECT_EQ(
      why_no_average_precision(info, "data.val"),
      "mean average precision is left out: it keeps the outputs of all 134217729 samples of data.val for 2 labels "
      "in memory, and at most 268435456 outputs are kept");
  info.target.kind = TargetKind::kNumbers;
  EXPECT_EQ(why_no_average_precision(info, "data.val"), "");
}

TEST(NumberScores, MeasureInTheUnitsOfTheTargets) {
  const Target target{.kind = TargetKind::kNumbers, .mean = {100, 5}, .stddev = {20, 0}};
  const Targets targets(target, {{110, 5}, {80, kUnknown}});
  NumberScores scores(targets, target);
  scores.add(0, std::vector<float>{1, 0.5F});  // 120 and 5.5: a deviation of 0 counts as 1
  scores.add(1, std::vector<float>{-1, 7});    // 80
  StepMetrics total;
  scores.write_to(total);
  ASSERT_EQ(total.targets.size(), 2U);
  EXPECT_EQ(total.targets[0].count, 2);
  EXPECT_EQ(total.targets[0].squares, 100);
  EXPECT_EQ(total.targets[0].magnitudes, 10);
  EXPECT_EQ(total.targets[1].count, 1);
  EXPECT_EQ(total.targets[1].magnitudes, 0.5);
}

TEST(NumberScores, MeasureTheChannelsOfAFieldOverItsPixels) {
  const Target target{.kind = TargetKind::kNumbers,
                      .shape = Shape::images(1, 1, 3, 2),
                      .dims = {1, 3, 2},
                      .mean = {100, 0},
                      .stddev = {20, 1}};
  const Targets targets(target, {{110, 1, 100, 2, kUnknown, 3}});
  NumberScores scores(targets, target);
  scores.add(0, std::vector<float>{1, 1, 0, 5, 9, 3});
  StepMetrics total;
  scores.write_to(total);
  ASSERT_EQ(total.targets.size(), 2U);
  EXPECT_EQ(total.targets[0].count, 2);
  EXPECT_EQ(total.targets[0].squares, 100);
  EXPECT_EQ(total.targets[1].count, 3);
  EXPECT_EQ(total.targets[1].magnitudes, 3);
}

// What is measured is what predictions write: float32.
TEST(NumberScores, RoundNumbersAsPredictionsDo) {
  const Target target{.kind = TargetKind::kNumbers, .mean = {1e6}, .stddev = {1e-3}};
  EXPECT_EQ(number_of(target, 0, 1.5F), static_cast<float>(1e6 + 1.5e-3));
  EXPECT_EQ(number_of({.kind = TargetKind::kNumbers}, 0, 1.5F), 1.5F) << "without statistics";
}

// 1024 outputs are 4 KiB: a message holds less than 2^19 samples.
TEST(OutputMessage, IsRefusedWithTheBatchThatFits) {
  const auto refusal = [](const BatchParams& batch, std::int64_t replicas) {
    return test::message_of<RequestError>(
        [&] { check_output_message(batch, replicas, batch.global / batch.micro / replicas, 4096); });
  };
  EXPECT_EQ(refusal({.global = (1 << 20) - 512, .micro = 256}, 2), test::kNothingThrown);
  EXPECT_EQ(refusal({.global = 1 << 20, .micro = 256}, 2),
            "batch.global = 1048576: the outputs for a step's 524288 samples of one replica, 4.0 KiB each, are larger "
            "than a message, which holds at most 2 GiB. Allowed here: batch.global = 1048064 or less.");
  EXPECT_CONTAINS(refusal({.global = 1 << 20, .micro = 1 << 20}, 1), "Allowed here: batch.micro = 524287 or less.");
}

TEST(LabelProbability, StaysANumberForLargeOutputs) {
  EXPECT_EQ(label_probability(0), 0.5);
  EXPECT_EQ(label_probability(1000), 1);
  EXPECT_EQ(label_probability(-1000), 0);
  EXPECT_TRUE(std::isnan(label_probability(kUnknown)));
}

}  // namespace
}  // namespace convoy
