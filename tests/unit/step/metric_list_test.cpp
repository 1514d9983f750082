/// Which metrics a network has: of classes, and of objectives of its own.
#include "step/metric_list.h"

#include <gtest/gtest.h>

namespace convoy {
namespace {

std::vector<std::string> names_of(const std::vector<NetworkMetric>& list) {
  std::vector<std::string> names;
  for (const NetworkMetric& metric : list) names.push_back(metric.name());
  return names;
}

using Names = std::vector<std::string>;

TEST(MetricList, OfTenClassesHasAllAndStepsHaveThoseThatCountNoClasses) {
  const MetricList list({}, 10, MetricKind::kMacroF1);
  EXPECT_EQ(names_of(list.of_steps()), (Names{"loss", "top1"}));
  EXPECT_EQ(names_of(list.all()), (Names{"loss", "top1", "top5", "balanced_accuracy", "macro_f1"}));
  EXPECT_EQ(list.chosen().title, "macro F1");
  EXPECT_EQ(list.left_out(), "");
}

TEST(MetricList, OfTwoClassesLeavesTop5OutAndSaysSo) {
  const MetricList list({}, 2);
  EXPECT_EQ(names_of(list.of_classes()), (Names{"balanced_accuracy", "macro_f1"}));
  EXPECT_EQ(list.left_out(), "top-5 is left out: it needs at least 6 classes, and the data has 2\n");
}

// The network's top-1 is that of its first objective, its loss the sum of both.
TEST(MetricList, OfObjectivesHasLossAndTop1OfEach) {
  const MetricList list({"masked words", "next sentence"});
  EXPECT_EQ(names_of(list.all()), (Names{"loss", "top1", "masked_words_loss", "masked_words_top1", "next_sentence_loss",
                                         "next_sentence_top1"}));
  EXPECT_EQ(list.chosen().title, "masked words top-1");
  EXPECT_EQ(list.of_objectives()[2].title, "next sentence loss");
  const StepMetrics metrics{{{.loss = 8, .num_correct = 3, .num_labels = 12, .num_samples = 4},
                             {.loss = 2, .num_correct = 1, .num_labels = 2, .num_samples = 4}}};
  std::vector<double> values;
  for (const NetworkMetric& metric : list.all()) values.push_back(metric.value(metrics));
  EXPECT_EQ(values, (std::vector<double>{2.5, 0.25, 2, 0.25, 0.5, 0.5}));
  EXPECT_EQ(list.left_out(),
            "top-5 is left out: it measures the prediction of classes, and this network predicts none\n"
            "balanced accuracy is left out: it measures the prediction of classes, and this network predicts none\n"
            "macro F1 is left out: it measures the prediction of classes, and this network predicts none\n");
}

TEST(MetricList, CountsOfClassesAddUp) {
  StepMetrics sum{.objectives = {}};
  const StepMetrics part{.objectives = {},
                         .classes = {{.num_samples = 2, .num_predicted = 1, .num_correct = 1}, {.num_predicted = 1}},
                         .num_among_five = 2};
  sum += part;
  sum += part;
  EXPECT_EQ(sum.classes,
            (std::vector<ClassCounts>{{.num_samples = 4, .num_predicted = 2, .num_correct = 2}, {.num_predicted = 2}}));
  EXPECT_EQ(sum.num_among_five, 4);
}

}  // namespace
}  // namespace convoy
