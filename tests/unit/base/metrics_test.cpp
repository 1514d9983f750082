/// The list of metrics: values against plain loops over samples and numbers worked out by hand, and names.
#include "convoy/base/metrics.h"

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

TEST(Metrics, OnlyTheLossIsBetterTheLowerItIs) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Metric& metric : kMetrics) {
    const bool is_loss = metric.kind == MetricKind::kLoss;
    EXPECT_EQ(metric.is_better(0.75, 0.5), !is_loss) << metric.name;
    EXPECT_EQ(metric.is_better(0.25, 0.5), is_loss) << metric.name;
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
}

TEST(Metrics, AreShownInTheirUnit) {
  EXPECT_EQ(named_value("top1", 0.882), "top-1 88.20 %");
  EXPECT_EQ(named_value("val_balanced_accuracy", 0.5), "val balanced accuracy 50.00 %");
  EXPECT_EQ(named_value("macro_f1", 0.5), "macro F1 0.5000");
  EXPECT_EQ(named_value("loss", 0.30215), "loss 0.3021");
  EXPECT_EQ(named_value("loss", 123456), "loss 1.235e+05");
  EXPECT_EQ(named_value("of_a_later_version", 0.5), "of_a_later_version 0.5");
}

TEST(Metrics, ExistOnlyWhereTheNetworkHasTheClasses) {
  EXPECT_EQ(metric_names(0), "loss, top1");
  EXPECT_EQ(metric_names(5), "loss, top1, balanced_accuracy, macro_f1");
  EXPECT_EQ(metric_names(6), "loss, top1, top5, balanced_accuracy, macro_f1");
  EXPECT_EQ(why_absent(metric(MetricKind::kTop5), 2), "it needs at least 6 classes, and the data has 2");
  EXPECT_EQ(why_absent(metric(MetricKind::kMacroF1), 0),
            "it measures the prediction of classes, and this network predicts none");
}

}  // namespace
}  // namespace convoy
