/// Learning-rate schedules against their definitions, and one-cycle against values printed by PyTorch's.
#include "update/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

namespace convoy {

namespace {

LearningRateSpec spec_of(LearningRateKind kind) {
  return {.params = {.schedule = kind}, .base = 0.1, .steps_per_epoch = 10, .epochs = 10};
}

}  // namespace

TEST(LearningRate, ConstantWarmsUpLinearly) {
  LearningRateSpec spec = spec_of(LearningRateKind::kConstant);
  spec.params.warmup_epochs = 2;
  EXPECT_DOUBLE_EQ(learning_rate(spec, 0), 0.1 / 20);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 9), 0.05);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 19), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 99), 0.1);
}

TEST(LearningRate, WarmUpThatEndsWithinAStepDoesNotOvershoot) {
  LearningRateSpec spec = spec_of(LearningRateKind::kConstant);
  spec.params.warmup_epochs = 0.25;  // 2.5 steps
  EXPECT_DOUBLE_EQ(learning_rate(spec, 0), 0.1 / 2.5);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 1), 0.2 / 2.5);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 2), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 3), 0.1);
}

TEST(LearningRate, StepFallsOnTimeWhereThePeriodIsNoBinaryFraction) {
  LearningRateSpec spec = spec_of(LearningRateKind::kStep);
  spec.params.step_epochs = {0.1};  // every step
  spec.params.gamma = 0.5;
  for (std::int64_t step = 0; step < 40; ++step)
    EXPECT_DOUBLE_EQ(learning_rate(spec, step), 0.1 * std::pow(0.5, static_cast<double>(step))) << step;
}

TEST(LearningRate, StepFallsEveryPeriod) {
  LearningRateSpec spec = spec_of(LearningRateKind::kStep);
  spec.params.step_epochs = {3};
  EXPECT_DOUBLE_EQ(learning_rate(spec, 29), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 30), 0.01);
  EXPECT_NEAR(learning_rate(spec, 60), 0.001, 1e-17);
}

TEST(LearningRate, MultistepFallsAtEachMilestone) {
  LearningRateSpec spec = spec_of(LearningRateKind::kMultistep);
  spec.params.step_epochs = {2, 7.5};
  EXPECT_DOUBLE_EQ(learning_rate(spec, 19), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 20), 0.01);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 74), 0.01);
  EXPECT_NEAR(learning_rate(spec, 75), 0.001, 1e-17);
}

TEST(LearningRate, CosineEndsAtZeroAfterWarmUp) {
  LearningRateSpec spec = spec_of(LearningRateKind::kCosine);
  spec.params.warmup_epochs = 2;
  EXPECT_DOUBLE_EQ(learning_rate(spec, 20), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 60), 0.05);
  EXPECT_NEAR(learning_rate(spec, 100), 0.0, 1e-17);
}

TEST(LearningRate, OnecycleRisesThenFalls) {
  // torch.optim.lr_scheduler.OneCycleLR(max_lr=0.1, total_steps=100): peak at step 29, 0.1/25 at 0, 4e-7 at 99.
  const LearningRateSpec spec = spec_of(LearningRateKind::kOnecycle);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 0), 0.004);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 29), 0.1);
  EXPECT_NEAR(learning_rate(spec, 99), 4e-7, 1e-18);
  const double halfway = 0.1 + (0.004 - 0.1) * (1 + std::cos(std::numbers::pi * 10 / 29)) / 2;
  EXPECT_DOUBLE_EQ(learning_rate(spec, 10), halfway);
}

// Printed by PyTorch 1.13, with `make` as each test says:
//   p = torch.nn.Parameter(torch.zeros(1)); o = torch.optim.SGD([p], lr=0.1); s = make(o)
//   for i in range(100):
//       print("{%d, %.17g}," % (i, o.param_groups[0]["lr"])); o.step(); s.step()   # without s.step() at the last
struct Point {
  std::int64_t step;
  double lr;
};

void expect_points(const LearningRateSpec& spec, const std::vector<Point>& points) {
  // Both round a few double operations on numbers near 0.1.
  for (const Point& point : points) EXPECT_NEAR(learning_rate(spec, point.step), point.lr, 1e-16) << point.step;
}

TEST(LearningRate, OnecycleHasTheNumbersOfTorch) {
  // torch.optim.lr_scheduler.OneCycleLR(o, max_lr=0.1, total_steps=100)
  LearningRateSpec spec = spec_of(LearningRateKind::kOnecycle);
  expect_points(spec, {{0, 0.0040000000000000036},
                       {1, 0.0042813780565907483},
                       {10, 0.029516394846410082},
                       {28, 0.099718621943409261},
                       {29, 0.10000000000000001},
                       {30, 0.099949653528452434},
                       {50, 0.079389345057573196},
                       {77, 0.022455461106791173},
                       {98, 5.0746471547578801e-05},
                       {99, 3.9999999999999998e-07}});
  // ... and pct_start=0.2
  spec.params.warmup_epochs = 2;
  expect_points(spec, {{0, 0.0040000000000000036},
                       {5, 0.019490484561964422},
                       {19, 0.10000000000000001},
                       {20, 0.099961451966228909},
                       {60, 0.048037217064009735},
                       {99, 3.9999999999999998e-07}});
}

TEST(LearningRate, PolynomialHasTheNumbersOfTorch) {
  // torch.optim.lr_scheduler.PolynomialLR(o, total_iters=100, power=2.0)
  LearningRateSpec spec = spec_of(LearningRateKind::kPolynomial);
  spec.params.power = 2;
  expect_points(spec, {{0, 0.1}, {1, 0.09801}, {50, 0.024999999999999991}, {99, 1.0000000000000016e-05}, {100, 0}});
}

TEST(LearningRate, PolynomialFallsFromTheEndOfTheWarmUp) {
  LearningRateSpec spec = spec_of(LearningRateKind::kPolynomial);
  spec.params.warmup_epochs = 2;
  EXPECT_DOUBLE_EQ(learning_rate(spec, 0), 0.1 / 20);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 20), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 60), 0.05);
  EXPECT_DOUBLE_EQ(learning_rate(spec, 100), 0.0);
}

// Vaswani et al. 2017, equation 3, with a width and a warm-up whose peak is the base.
TEST(LearningRate, InverseSqrtIsThatOfThePaper) {
  LearningRateSpec spec = spec_of(LearningRateKind::kInverseSqrt);
  constexpr double kWarmup = 20, kWidth = 5;
  spec.params.warmup_epochs = 2;
  spec.base = 1 / std::sqrt(kWidth * kWarmup);
  for (const int step : {0, 5, 18, 19, 20, 60, 100, 1000}) {
    const double number = step + 1;
    EXPECT_NEAR(learning_rate(spec, step),
                std::min(1 / std::sqrt(number), number * std::pow(kWarmup, -1.5)) / std::sqrt(kWidth), 1e-12)
        << step;
  }
}

TEST(LearningRate, IsAFunctionOfTheStepAlone) {
  const LearningRateSpec spec = spec_of(LearningRateKind::kOnecycle);
  const double forwards = learning_rate(spec, 57);
  learning_rate(spec, 3);
  EXPECT_EQ(learning_rate(spec, 57), forwards);
}

}  // namespace convoy
