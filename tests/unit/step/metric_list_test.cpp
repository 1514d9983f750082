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
  const MetricList list({.outputs = Names(10, "a"), .chosen = MetricKind::kMacroF1});
  EXPECT_EQ(names_of(list.of_steps()), (Names{"loss", "top1"}));
  EXPECT_EQ(names_of(list.all()), (Names{"loss", "top1", "top5", "balanced_accuracy", "macro_f1"}));
  EXPECT_EQ(list.chosen().title, "macro F1");
  EXPECT_EQ(list.left_out(), "");
}

TEST(MetricList, OfTwoClassesLeavesTop5OutAndSaysSo) {
  const MetricList list({.outputs = {"a", "b"}});
  EXPECT_EQ(names_of(list.of_outputs()), (Names{"balanced_accuracy", "macro_f1"}));
  EXPECT_EQ(list.left_out(), "top-5 is left out: it needs at least 6 classes, and the data has 2\n");
}

// The network's top-1 is that of its first objective, its loss the sum of both.
TEST(MetricList, OfObjectivesHasLossAndTop1OfEach) {
  const MetricList list({.objectives = {"masked words", "next sentence"}});
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

TEST(MetricList, OfLabelsHasNoTop1) {
  const MetricList list({.target = TargetKind::kLabels, .outputs = {"a", "b"}});
  EXPECT_EQ(names_of(list.of_steps()), Names{"loss"});
  EXPECT_EQ(names_of(list.all()), (Names{"loss", "macro_f1", "mean_average_precision"}));
  EXPECT_FALSE(list.has_top1());
  EXPECT_EQ(list.chosen().name(), "mean_average_precision");
  EXPECT_EQ(list.left_out(), "");
}

// Columns are safe in CSV, and no two are equal.
TEST(MetricList, OfSeveralNumbersHasTheErrorsOfEachAfterTheirMeans) {
  const MetricList list(
      {.target = TargetKind::kNumbers, .outputs = {"E (kJ/mol)", "E,(kJ/mol)"}, .chosen = MetricKind::kMae});
  EXPECT_EQ(names_of(list.of_outputs()),
            (Names{"rmse", "mae", "r2", "E__kJ_mol__rmse", "E__kJ_mol__mae", "E__kJ_mol__r2", "E__kJ_mol__2_rmse",
                   "E__kJ_mol__2_mae", "E__kJ_mol__2_r2"}));
  EXPECT_EQ(list.of_outputs()[3].title, "E (kJ/mol) RMSE");
  EXPECT_EQ(list.chosen().name(), "mae");
  StepMetrics metrics;
  metrics.targets.resize(2);
  metrics.targets[0].add(1, 2);
  metrics.targets[1].add(5, 2);
  std::vector<double> values;
  for (const NetworkMetric& metric : list.of_outputs())
    if (metric.metric->kind == MetricKind::kMae) values.push_back(metric.value(metrics));
  EXPECT_EQ(values, (std::vector<double>{2, 1, 3}));
}

TEST(MetricList, OfOneNumberOrManyHasOnlyMeans) {
  for (const std::size_t count : {1U, 17U})
    EXPECT_EQ(names_of(MetricList({.target = TargetKind::kNumbers, .outputs = Names(count, "a")}).all()),
              (Names{"loss", "rmse", "mae", "r2"}));
}

}  // namespace
}  // namespace convoy
