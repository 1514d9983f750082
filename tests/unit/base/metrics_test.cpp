/// The list of metrics: values against plain loops over samples and numbers worked out by hand, and names.
#include "convoy/base/metrics.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace convoy {
namespace {

using Predictions = std::vector<std::pair<int, int>>;  // (true class, predicted class) of each sample

std::vector<ClassCounts> counted(const Predictions& samples, int num_classes) {
  std::vector<ClassCounts> classes(static_cast<std::size_t>(num_classes));
  for (const auto& [label, predicted] : samples) {
    ++classes[static_cast<std::size_t>(label)].num_samples;
    ++classes[static_cast<std::size_t>(predicted)].num_predicted;
    if (label == predicted) ++classes[static_cast<std::size_t>(label)].num_correct;
  }
  return classes;
}

// Computed straight from the definition: a loop over all samples for each class.
double plain_balanced_accuracy(const Predictions& samples, int num_classes) {
  double sum = 0;
  int present = 0;
  for (int c = 0; c < num_classes; ++c) {
    double of_class = 0, right = 0;
    for (const auto& [label, predicted] : samples) {
      if (label != c) continue;
      of_class += 1;
      if (predicted == c) right += 1;
    }
    if (of_class == 0) continue;
    sum += right / of_class;
    ++present;
  }
  return sum / present;
}

double plain_macro_f1(const Predictions& samples, int num_classes) {
  double sum = 0;
  int present = 0;
  for (int c = 0; c < num_classes; ++c) {
    double true_positives = 0, false_positives = 0, false_negatives = 0;
    for (const auto& [label, predicted] : samples) {
      if (label == c && predicted == c) true_positives += 1;
      if (label != c && predicted == c) false_positives += 1;
      if (label == c && predicted != c) false_negatives += 1;
    }
    if (true_positives + false_positives + false_negatives == 0) continue;
    sum += 2 * true_positives / (2 * true_positives + false_positives + false_negatives);
    ++present;
  }
  return sum / present;
}

// Recalls are 3/4, 0/1, 1/1 for classes 0, 1 and 3; class 2 has no sample but was predicted, class 4 has neither.
// F1 = 2 * 3 / (4 + 3), 0 / 1, 0 / 1, 2 * 1 / (1 + 2). scikit-learn gives the same: 0.583333... and 0.380952...
const Predictions kByHand = {{0, 0}, {0, 0}, {0, 0}, {0, 3}, {1, 2}, {3, 3}};

TEST(Metrics, BalancedAccuracyAndMacroF1CountEachClassOnce) {
  const std::vector<ClassCounts> classes = counted(kByHand, 5);
  const MetricCounts counts{.classes = classes};
  EXPECT_DOUBLE_EQ(metrics::balanced_accuracy(counts), (0.75 + 0 + 1) / 3);
  EXPECT_DOUBLE_EQ(metrics::macro_f1(counts), (6.0 / 7 + 0 + 0 + 2.0 / 3) / 4);
}

TEST(Metrics, AreThoseOfPlainLoopsForAnyCounts) {
  std::uint32_t state = 1;
  const auto below = [&](int limit) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 8) % static_cast<std::uint32_t>(limit));
  };
  for (int trial = 0; trial < 200; ++trial) {
    const int num_classes = 1 + below(12);
    Predictions samples(static_cast<std::size_t>(1 + below(40)));
    for (auto& [label, predicted] : samples) label = below(num_classes), predicted = below(num_classes);
    const std::vector<ClassCounts> classes = counted(samples, num_classes);
    const MetricCounts counts{.classes = classes};
    EXPECT_EQ(metrics::balanced_accuracy(counts), plain_balanced_accuracy(samples, num_classes));
    EXPECT_EQ(metrics::macro_f1(counts), plain_macro_f1(samples, num_classes));
  }
}

TEST(Metrics, AreSharesOfTheLabels) {
  const MetricCounts counts{.loss = 1.5, .num_correct = 3, .num_labels = 12, .num_among_five = 6};
  EXPECT_EQ(metrics::loss(counts), 1.5);
  EXPECT_EQ(metrics::top1(counts), 0.25);
  EXPECT_EQ(metrics::top5(counts), 0.5);
}

// Errors of a network with two targets: e = 1, -3 and 0.5, 0.5.
// RMSE = (sqrt((1 + 9) / 2) + 0.5) / 2, MAE = (2 + 0.5) / 2. The true values 4, 8 have deviations 4 + 4, so
// R2 = 1 - 10 / 8; those of the second target are constant, so it has no R2.
TEST(Metrics, OfNumbersAreMeansOverTheTargets) {
  TargetSums sums[3];
  sums[0].add(5, 4);
  sums[0].add(5, 8);
  sums[1].add(2.5, 2);
  sums[1].add(2.5, 2);
  const MetricCounts counts{.targets = sums};  // no sample of the third is known
  EXPECT_DOUBLE_EQ(metrics::rmse(counts), (std::sqrt(5.0) + 0.5) / 2);
  EXPECT_DOUBLE_EQ(metrics::mae(counts), 1.25);
  EXPECT_DOUBLE_EQ(metrics::r2(counts), -0.25);
  EXPECT_TRUE(std::isnan(metrics::r2({.targets = std::span(sums).subspan(1)})));
  EXPECT_TRUE(std::isnan(metrics::rmse({.targets = std::span(sums).subspan(2)})));
}

// The sums of plain loops in long double, for numbers far from 0: a mean of 1e6 with deviations of 1e-3.
TEST(Metrics, OfNumbersAreThoseOfPlainLoops) {
  std::uint32_t state = 7;
  const auto uniform = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<double>(state >> 8) / (1 << 24);
  };
  std::vector<std::pair<double, double>> samples(1000);  // predicted, true
  for (auto& [predicted, target] : samples) {
    target = 1e6 + 1e-3 * uniform();
    predicted = target + 1e-4 * uniform();
  }
  TargetSums sums;
  long double squares = 0, magnitudes = 0, mean = 0, deviations = 0;
  for (const auto& [predicted, target] : samples) {
    sums.add(predicted, target);
    const long double error = static_cast<long double>(predicted) - target;
    squares += error * error;
    magnitudes += std::abs(error);
    mean += static_cast<long double>(target) / 1000;
  }
  for (const auto& [predicted, target] : samples) deviations += (target - mean) * (target - mean);
  const MetricCounts counts{.targets = {&sums, 1}};
  EXPECT_NEAR(metrics::rmse(counts), std::sqrt(static_cast<double>(squares) / 1000), 1e-16);
  EXPECT_NEAR(metrics::mae(counts), static_cast<double>(magnitudes) / 1000, 1e-16);
  // The mean is off by a few units of its last place, 1e6 * 2^-53, of deviations of 3e-4: relative 1e-6 at most.
  EXPECT_NEAR(metrics::r2(counts), 1 - static_cast<double>(squares / deviations), 1e-6);
}

TEST(Metrics, MeanAveragePrecisionLeavesOutLabelsThatNoSampleHas) {
  const double precisions[] = {1, std::numeric_limits<double>::quiet_NaN(), 0.5};
  EXPECT_EQ(metrics::mean_average_precision({.average_precisions = precisions}), 0.75);
  EXPECT_TRUE(std::isnan(metrics::mean_average_precision({})));
}

TEST(Metrics, OnlyLossesAndErrorsAreBetterTheLowerTheyAre) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Metric& metric : kMetrics) {
    const bool is_error = metric.kind == MetricKind::kLoss || metric.has_unit;
    EXPECT_EQ(metric.is_better(0.75, 0.5), !is_error) << metric.name;
    EXPECT_EQ(metric.is_better(0.25, 0.5), is_error) << metric.name;
    EXPECT_FALSE(metric.is_better(0.5, 0.5)) << metric.name;
    EXPECT_FALSE(metric.is_better(nan, 0.5)) << metric.name;
  }
}

TEST(Metrics, AreFoundByTheNamesOfColumns) {
  for (const Metric& metric : kMetrics) {
    EXPECT_EQ(find_metric(metric.name), &metric);
    EXPECT_EQ(find_metric(std::string("val_") + metric.name), &metric);
  }
  for (const char* column : {"", "lr", "xloss", "loss_scale", "samples", "val_", "top"}) {
    EXPECT_EQ(find_metric(column), nullptr) << column;
    EXPECT_EQ(metric_title(column), column);
  }
  EXPECT_EQ(metric_title("macro_f1"), "macro F1");
  EXPECT_EQ(metric_title("val_macro_f1"), "val macro F1");
  EXPECT_EQ(metric_title("test_masked_words_top1"), "test masked words top-1");
  EXPECT_EQ(metric_title("val_energy_rmse"), "val energy RMSE");
}

TEST(Metrics, AreShownInTheirUnit) {
  EXPECT_EQ(named_value("top1", 0.882), "top-1 88.20 %");
  EXPECT_EQ(named_value("val_balanced_accuracy", 0.5), "val balanced accuracy 50.00 %");
  EXPECT_EQ(named_value("macro_f1", 0.5), "macro F1 0.5000");
  EXPECT_EQ(named_value("loss", 0.30215), "loss 0.3021");
  EXPECT_EQ(named_value("loss", 123456), "loss 1.235e+05");
  EXPECT_EQ(named_value("val_rmse", 1.23456e-6), "val RMSE 0.000001235");
  EXPECT_EQ(named_value("mae", 123456.7), "MAE 123457");
  EXPECT_EQ(named_value("r2", -0.5), "R2 -0.5000");
  EXPECT_EQ(named_value("of_a_later_version", 0.5), "of_a_later_version 0.5");
}

TEST(Metrics, ExistOnlyWhereTheNetworkHasTheOutputs) {
  EXPECT_EQ(metric_names(TargetKind::kClass, 0), "loss, top1");
  EXPECT_EQ(metric_names(TargetKind::kClass, 5), "loss, top1, balanced_accuracy, macro_f1");
  EXPECT_EQ(metric_names(TargetKind::kClass, 6), "loss, top1, top5, balanced_accuracy, macro_f1");
  EXPECT_EQ(metric_names(TargetKind::kLabels, 3), "loss, macro_f1, mean_average_precision");
  EXPECT_EQ(metric_names(TargetKind::kNumbers, 1), "loss, rmse, mae, r2");
  EXPECT_EQ(metric_names(TargetKind::kNumbers, 0), "loss");
  const auto why = [](MetricKind kind, TargetKind target, std::int64_t num_outputs) {
    return why_absent(metric(kind), target, num_outputs);
  };
  EXPECT_EQ(why(MetricKind::kTop5, TargetKind::kClass, 2), "it needs at least 6 classes, and the data has 2");
  EXPECT_EQ(why(MetricKind::kMacroF1, TargetKind::kClass, 0),
            "it measures the prediction of classes, and this network predicts none");
  EXPECT_EQ(why(MetricKind::kMacroF1, TargetKind::kNumbers, 2),
            "it measures the prediction of classes or labels, and this network predicts numbers");
  EXPECT_EQ(why(MetricKind::kRmse, TargetKind::kClass, 10),
            "it measures the prediction of numbers, and this network predicts classes");
}

TEST(Metrics, TheDefaultFollowsTheTarget) {
  EXPECT_EQ(default_metric(TargetKind::kClass, 10), MetricKind::kTop1);
  EXPECT_EQ(default_metric(TargetKind::kClass, 0), MetricKind::kTop1);
  EXPECT_EQ(default_metric(TargetKind::kLabels, 1), MetricKind::kMeanAveragePrecision);
  EXPECT_EQ(default_metric(TargetKind::kNumbers, 1), MetricKind::kRmse);
  EXPECT_EQ(default_metric(TargetKind::kNumbers, 0), MetricKind::kLoss);
}

}  // namespace
}  // namespace convoy
