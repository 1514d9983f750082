/// Which epoch is the best one, and how long a run waits for a better one.
#include "run/best_value.h"

#include <limits>

#include <gtest/gtest.h>

#include "convoy/params/parameters.h"

#include "run/run_calendar.h"

namespace convoy {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

TEST(BestEpoch, IsTheOneWithTheLowerLossIfTheMetricIsTheSame) {
  io::TrainingState state{.step = 10};
  const Metric& f1 = metric(MetricKind::kMacroF1);
  EXPECT_TRUE(note_if_best(f1, {.value = 1, .loss = 0.4}, state));
  state.step = 20;
  EXPECT_FALSE(note_if_best(f1, {.value = 1, .loss = 0.4}, state)) << "of two equal epochs the first stays";
  EXPECT_FALSE(note_if_best(f1, {.value = 0.9, .loss = 0.1}, state)) << "the metric decides first";
  EXPECT_FALSE(note_if_best(f1, {.value = 1, .loss = kUnknown}, state));
  EXPECT_TRUE(note_if_best(f1, {.value = 1, .loss = 0.02}, state));
  EXPECT_EQ(state.best_step, 20);
  EXPECT_EQ(state.best_loss, 0.02);
  EXPECT_EQ(state.improved_step, 10);
  state.step = 30;
  EXPECT_TRUE(note_if_best(metric(MetricKind::kLoss), {.value = 0.01, .loss = 0.01}, state));
}

TEST(BestEpoch, OfAnOlderCheckpointStaysAtTheSameMetric) {
  io::TrainingState state{.step = 20, .best_value = 1, .best_step = 10, .improved_step = 10};
  EXPECT_FALSE(note_if_best(metric(MetricKind::kTop1), {.value = 1, .loss = 0.1}, state));
  EXPECT_EQ(state.best_step, 10);
}

TEST(Patience, CountsFromTheEpochThatImprovedTheMetric) {
  Parameters params;
  params.train.patience_epochs = 2;
  const RunCalendar calendar(params, {.per_epoch = 10, .total = 100});
  io::TrainingState state;
  for (const std::int64_t step : {10, 20, 30}) {
    EXPECT_FALSE(calendar.lost_patience(state)) << step;
    state.step = state.evaluated_step = step;
    note_if_best(metric(MetricKind::kTop1), {.value = 1, .loss = 1.0 / static_cast<double>(step)}, state);
  }
  EXPECT_EQ(state.best_step, 30);
  EXPECT_TRUE(calendar.lost_patience(state));
}

}  // namespace
}  // namespace convoy
