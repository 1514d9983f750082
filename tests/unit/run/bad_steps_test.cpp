/// The answer to a bad step follows from the counts in the training's state, and people are told where it began.
#include "run/bad_steps.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/model/network.h"
#include "convoy/params/run_parameters.h"

#include "run/describe_bad_step.h"
#include "run/report.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using Kind = BadNumbers::Kind;

TEST(AnswerToABadStep, StopsByDefault) {
  EXPECT_EQ(answer_bad_step(TrainParams(), {}), BadStepAnswer::kStop);
}

TEST(AnswerToABadStep, SkipsSoManyInARowAndThenStops) {
  const TrainParams train{.on_bad_step = BadStepKind::kSkip, .max_bad_steps = 3};
  io::TrainingState state{.bad_steps = 100};
  for (state.bad_steps_in_row = 0; state.bad_steps_in_row < 3; ++state.bad_steps_in_row)
    EXPECT_EQ(answer_bad_step(train, state), BadStepAnswer::kSkip) << state.bad_steps_in_row;
  EXPECT_EQ(answer_bad_step(train, state), BadStepAnswer::kStop);
}

TEST(AnswerToABadStep, GoesBackSoManyTimesAndThenStops) {
  const TrainParams train{.on_bad_step = BadStepKind::kRollback, .max_rollbacks = 2};
  EXPECT_EQ(answer_bad_step(train, {.rollbacks = 0}), BadStepAnswer::kGoBack);
  EXPECT_EQ(answer_bad_step(train, {.rollbacks = 1}), BadStepAnswer::kGoBack);
  EXPECT_EQ(answer_bad_step(train, {.rollbacks = 2}), BadStepAnswer::kStop);
}

TEST(ReportedBadSteps, BecomeRare) {
  std::vector<std::int64_t> reported;
  for (std::int64_t n = 1; n <= 40; ++n)
    if (is_reported(n)) reported.push_back(n);
  EXPECT_EQ(reported, (std::vector<std::int64_t>{1, 2, 3, 4, 8, 16, 32}));
}

// --- What people are told --------------------------------------------------------------------------------------------

class BadStepMessage : public testing::Test {
 protected:
  std::string text(const std::vector<BadNumbers>& found, double loss_limit = 0) const {
    return describe_bad_step(
        {.step = 12, .network = network_, .num_micro_batches = 4, .loss_limit = loss_limit, .lr = 100, .names = names},
        found);
  }

  static std::vector<std::string> names(std::int64_t m) {
    std::vector<std::string> of_samples;
    for (int i = 0; i < 10; ++i) of_samples.push_back(fmt::format("ant/{}", 10 * m + i));
    return of_samples;
  }

  Network network_ =
      make_network({.name = "resnet20", .input = ImageShape{12, 12, 1}, .micro_batch = 10, .num_classes = 4});
};

constexpr NumberCount kThreeOfFour{.num_values = 4, .num_bad = 3, .largest = 3e38};

TEST_F(BadStepMessage, NamesMicroBatchSamplesAndFirstCell) {
  const std::string message =
      text({{.kind = Kind::kOutput, .micro_batch = 2, .cell = 1, .count = kThreeOfFour},
            {.kind = Kind::kLoss, .micro_batch = 2, .loss = std::numeric_limits<double>::quiet_NaN()}});
  EXPECT_CONTAINS(message, "step 12 is bad: the loss of micro-batch 2 is not a finite number. ");
  EXPECT_CONTAINS(message, "Micro-batch 2 (from 0) holds 'ant/20', 'ant/21', ");
  EXPECT_CONTAINS(message, "'ant/27' and 2 more. ");
  EXPECT_CONTAINS(message,
                  "The first cell whose output is not finite is layer1.0 (cell 2 of 11), in micro-batch 2: 3 "
                  "of 4 values are infinite or NaN; the largest finite one is 3e+38. ");
  EXPECT_CONTAINS(message, "All inputs and parameters are finite.");
  EXPECT_EQ(message.find("diverged"), std::string::npos) << "the other micro-batches are good: " << message;
}

TEST_F(BadStepMessage, WhereAllMicroBatchesAreBadTheLearningRateIsNamedAndNoSample) {
  std::vector<BadNumbers> found;
  for (std::int64_t m = 0; m < 4; ++m)
    found.push_back({.kind = Kind::kLoss, .micro_batch = m, .loss = std::numeric_limits<double>::quiet_NaN()});
  const std::string message = text(found);
  EXPECT_CONTAINS(
      message,
      "step 12 is bad: the loss of micro-batch 0 is not a finite number. The training has diverged; the "
      "likely cause is its learning rate, which was 100 in this step: use a smaller one. All 4 micro-batches "
      "are bad. The output of every cell is finite.");
  EXPECT_EQ(message.find("ant/"), std::string::npos) << message;
  // An input that is not finite is the cause, whatever the rate.
  found.push_back({.kind = Kind::kFeature, .micro_batch = 3, .cell = 0, .count = kThreeOfFour});
  const std::string of_input = text(found);
  EXPECT_CONTAINS(of_input, "All 4 micro-batches are bad. Micro-batch 3 (from 0) holds 'ant/30', ");
  EXPECT_EQ(of_input.find("diverged"), std::string::npos) << of_input;
  EXPECT_EQ(of_input.find("ant/0"), std::string::npos) << of_input;
}

TEST_F(BadStepMessage, SaysThatParametersAndInputsWereBadAlready) {
  const std::string message = text({{.kind = Kind::kParameter, .cell = 0, .index = 0, .count = kThreeOfFour},
                                    {.kind = Kind::kFeature, .micro_batch = 1, .cell = 0, .count = kThreeOfFour}});
  EXPECT_CONTAINS(message, "The input 'image' of micro-batch 1 is bad already: 3 of 4 values");
  EXPECT_CONTAINS(message, "The parameter 'conv1.weight' is bad already: 3 of 4 values");
}

TEST_F(BadStepMessage, ALossAboveTheLimitIsSaidWithBoth) {
  const std::string message = text({{.kind = Kind::kLoss, .micro_batch = 3, .loss = 12.5}}, 10);
  EXPECT_CONTAINS(message, "the loss of micro-batch 3 is 12.5, above train.loss_limit = 10. ");
  EXPECT_CONTAINS(message, "The output of every cell is finite.");
}

TEST_F(BadStepMessage, AGradientIsNamedWhereTheLossIsFinite) {
  const std::string message = text({{.kind = Kind::kGradient, .cell = 10, .index = 0, .count = kThreeOfFour}});
  EXPECT_CONTAINS(message,
                  "the loss is finite, but in the gradient of 'fc.weight' 3 of 4 values are infinite or NaN. ");
  EXPECT_CONTAINS(message, "the likely cause is its learning rate, which was 100 in this step");
  EXPECT_EQ(message.find("ant/"), std::string::npos) << "the sum does not tell whose it was: " << message;
}

TEST_F(BadStepMessage, StatisticsAreNotCalledGradients) {
  const auto& parameters = network_.front()->memory().parameters();
  const auto var = std::ranges::find(parameters, "bn1.running_var", [](const auto& entry) { return entry.spec.name; });
  ASSERT_NE(var, parameters.end());
  EXPECT_CONTAINS(
      text({{.kind = Kind::kGradient, .cell = 0, .index = var - parameters.begin(), .count = kThreeOfFour}}),
      "the loss is finite, but in the micro-batches' statistics for 'bn1.running_var' 3 of 4 values");
}

TEST_F(BadStepMessage, OfManyMicroBatchesTheFirstTwoAreNamed) {
  std::vector<BadNumbers> found;
  for (std::int64_t m = 0; m < 3; ++m) found.push_back({.kind = Kind::kLoss, .micro_batch = m, .loss = 11});
  const std::string message = text(found, 10);
  EXPECT_CONTAINS(message, "3 micro-batches are bad. Micro-batch 0 (from 0) holds 'ant/0'");
  EXPECT_CONTAINS(message, "Micro-batch 1 (from 0) holds");
  EXPECT_EQ(message.find("Micro-batch 2"), std::string::npos) << message;
}

TEST(BadStepSummary, CountsThemAndIsEmptyWithoutAny) {
  EXPECT_EQ(describe_bad_steps({}), "");
  EXPECT_EQ(describe_bad_steps({.bad_steps = 1}), "1 bad step was skipped (steps.csv has 'bad' in its column skipped)");
  EXPECT_CONTAINS(describe_bad_steps({.bad_steps = 5, .rollbacks = 2, .rate_factor = 0.25}),
                  "5 bad steps were skipped (steps.csv has 'bad' in its column skipped); training went back to an "
                  "earlier checkpoint 2 times: the learning rate is now 0.25 of what lr.schedule gives");
}

TEST(MetricsOfAnEpoch, HaveNoLossWhereAllStepsWereSkipped) {
  EXPECT_EQ(describe_metrics({}, MetricList()), "no loss: all steps were skipped");
  EXPECT_EQ(describe_metrics({.objectives = {{.loss = 6, .num_labels = 4, .num_samples = 4}}}, MetricList()),
            "loss 1.5000  top-1 0.00 %");
}

}  // namespace
}  // namespace convoy
