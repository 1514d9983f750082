/// Tests the text of instructions, which users see in errors and traces.
#include "convoy/schedule/instruction.h"

#include <gtest/gtest.h>

namespace convoy {
namespace {

TEST(Instruction, NamesItsMicroBatch) {
  EXPECT_EQ(to_string({Op::kLoad, 0}), "Load 0");
  EXPECT_EQ(to_string({Op::kRecvActivation, 1}), "RecvActivation 1");
  EXPECT_EQ(to_string({Op::kForward, 3}), "Forward 3");
  EXPECT_EQ(to_string({Op::kSendActivation, 4}), "SendActivation 4");
  EXPECT_EQ(to_string({Op::kLoss, 6}), "Loss 6");
  EXPECT_EQ(to_string({Op::kRecvGradient, 7}), "RecvGradient 7");
  EXPECT_EQ(to_string({Op::kSendGradient, 31}), "SendGradient 31");
}

TEST(Instruction, NamesTheBucketOfAPartialBackwardOnly) {
  EXPECT_EQ(to_string({Op::kBackward, 7}), "Backward 7");
  EXPECT_EQ(to_string({Op::kBackward, 7, 2}), "Backward 7 bucket 2");
  EXPECT_EQ(to_string({Op::kBackward, 0, 0}), "Backward 0 bucket 0");
}

TEST(Instruction, NamesTheTwoHalvesOfABackward) {
  EXPECT_EQ(to_string({Op::kBackwardInput, 7}), "BackwardInput 7");
  EXPECT_EQ(to_string({Op::kBackwardWeight, 7}), "BackwardWeight 7");
  EXPECT_EQ(to_string({Op::kBackwardWeight, 7, 0}), "BackwardWeight 7 bucket 0");
}

TEST(Instruction, NamesEveryChunkButTheFirst) {
  EXPECT_EQ(to_string({Op::kForward, 3, kAllBuckets, 0}), "Forward 3");
  EXPECT_EQ(to_string({Op::kForward, 3, kAllBuckets, 1}), "Forward 3 chunk 1");
  EXPECT_EQ(to_string({Op::kBackward, 7, 2, 3}), "Backward 7 bucket 2 chunk 3");
  EXPECT_EQ(to_string({Op::kReduceBucket, -1, 2, 1}), "ReduceBucket 2 chunk 1");
}

TEST(Instruction, NamesItsBucketWhereItHasNoMicroBatch) {
  EXPECT_EQ(to_string({Op::kReduceBucket, -1, 0}), "ReduceBucket 0");
  EXPECT_EQ(to_string({Op::kFoldBucket, -1, 2}), "FoldBucket 2");
  EXPECT_EQ(to_string({Op::kAgreeOnUpdate}), "AgreeOnUpdate");
  EXPECT_EQ(to_string({Op::kUpdateBucket, -1, 1}), "UpdateBucket 1");
  EXPECT_EQ(to_string({Op::kGatherBucket, -1, 2}), "GatherBucket 2");
}

}  // namespace
}  // namespace convoy
