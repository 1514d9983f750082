/// The dynamic loss scale: halved by overflows, doubled by long runs of good steps, within limits.
#include "update/loss_scale.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "unit/messages.h"

namespace convoy {
namespace {

using test::message_of;

// What the code guarantees: an overflow costs one step, so growth is tried this seldom; scales stay in [2^-14, 2^24].
constexpr std::int64_t kStepsBeforeGrowth = 2000;
constexpr double kLargest = 0x1p24, kSmallest = 0x1p-14;

LossScale fp16_at(const LossScaleState& state) {
  LossScale scale(DataType::kFloat16);
  scale.restore(state);
  return scale;
}

TEST(LossScale, IsOneAndStaysOneForTypesWithTheExponentsOfFloat32) {
  for (const DataType type : {DataType::kFloat32, DataType::kBfloat16}) {
    LossScale scale(type);
    EXPECT_FALSE(scale.is_dynamic());
    scale.restore({.scale = 1024, .good_steps = 7});  // of a checkpoint that was written in fp16
    for (std::int64_t i = 0; i <= kStepsBeforeGrowth; ++i) scale.end_step(i % 2 == 0);
    EXPECT_EQ(scale.state(), LossScaleState()) << to_string(type);
  }
}

TEST(LossScale, BeginsAtAPowerOfTwoAboveOneForFp16) {
  const LossScale scale(DataType::kFloat16);
  EXPECT_TRUE(scale.is_dynamic());
  EXPECT_EQ(scale.state(), (LossScaleState{.scale = 65536, .good_steps = 0}));
}

TEST(LossScale, OverflowHalvesItAndBeginsTheRunOfGoodStepsAnew) {
  LossScale scale = fp16_at({.scale = 1024, .good_steps = kStepsBeforeGrowth - 1});
  scale.end_step(true);
  EXPECT_EQ(scale.state(), (LossScaleState{.scale = 512, .good_steps = 0}));
  scale.end_step(true);
  EXPECT_EQ(scale.state(), (LossScaleState{.scale = 256, .good_steps = 0}));
}

TEST(LossScale, DoublesAfterTheRunOfGoodStepsAndNotBefore) {
  LossScale scale = fp16_at({.scale = 1024, .good_steps = 0});
  for (std::int64_t i = 1; i < kStepsBeforeGrowth; ++i) scale.end_step(false);
  EXPECT_EQ(scale.state(), (LossScaleState{.scale = 1024, .good_steps = kStepsBeforeGrowth - 1}));
  scale.end_step(false);
  EXPECT_EQ(scale.state(), (LossScaleState{.scale = 2048, .good_steps = 0}));
}

TEST(LossScale, DoesNotGrowBeyondTheLargest) {
  LossScale scale = fp16_at({.scale = kLargest / 2, .good_steps = kStepsBeforeGrowth - 1});
  scale.end_step(false);
  EXPECT_EQ(scale.scale(), kLargest);
  for (std::int64_t i = 0; i < kStepsBeforeGrowth; ++i) scale.end_step(false);
  EXPECT_EQ(scale.state(), (LossScaleState{.scale = kLargest, .good_steps = 0}));
}

TEST(LossScale, BelowTheSmallestTheTrainingHasDivergedAndTheErrorSaysWhatToDo) {
  LossScale scale = fp16_at({.scale = 2 * kSmallest, .good_steps = 0});
  scale.end_step(true);
  EXPECT_EQ(scale.scale(), kSmallest);
  const std::string message = message_of<Error>([&] { scale.end_step(true); });
  EXPECT_CONTAINS(message, fmt::format("although the loss scale was reduced to {}: the training diverged", kSmallest));
  EXPECT_NE(message.find("optimizer.lr"), std::string::npos) << message;
  EXPECT_NE(message.find("train.precision = bf16 or f32"), std::string::npos) << message;
}

TEST(LossScale, IsTheSmallestWhereOneMoreOverflowWouldBeAnError) {
  EXPECT_TRUE(fp16_at({.scale = kSmallest, .good_steps = 0}).is_smallest());
  EXPECT_FALSE(fp16_at({.scale = 2 * kSmallest, .good_steps = 0}).is_smallest());
}

TEST(LossScale, OfACheckpointIsTakenButOneThatIsNoScaleIsNot) {
  EXPECT_EQ(fp16_at({.scale = 4096, .good_steps = 17}).state(), (LossScaleState{.scale = 4096, .good_steps = 17}));
  EXPECT_EQ(fp16_at({.scale = 0, .good_steps = 17}).state(), LossScale(DataType::kFloat16).state());
  EXPECT_EQ(fp16_at(LossScale(DataType::kBfloat16).state()).state(), LossScale(DataType::kFloat16).state());
}

}  // namespace
}  // namespace convoy
