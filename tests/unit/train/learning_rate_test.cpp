/// Learning-rate schedules against their definitions, and one-cycle against values printed by PyTorch's.
#include "train/learning_rate.h"

#include <cmath>
#include <numbers>

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

TEST(LearningRate, IsAFunctionOfTheStepAlone) {
  const LearningRateSpec spec = spec_of(LearningRateKind::kOnecycle);
  const double forwards = learning_rate(spec, 57);
  learning_rate(spec, 3);
  EXPECT_EQ(learning_rate(spec, 57), forwards);
}

}  // namespace convoy
