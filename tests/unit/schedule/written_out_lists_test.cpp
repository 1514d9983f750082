/// Compares whole lists with lists written out by hand: the pictures in the schedules' comments, and the tails of
/// steps.
#include <string>

#include <gtest/gtest.h>

#include "convoy/schedule/schedule.h"

#include "unit/schedule/draw.h"

namespace convoy {
namespace {

using testing::draw;
using testing::pipeline;

TEST(Schedule, PicturesInTheCommentsAreTrue) {
  EXPECT_EQ(draw(make_naive(pipeline({.stages = 3, .micro_batches = 2}))),
            "F0 .  .  .  .  B0 F1 .  .  .  .  B1\n"
            ".  F0 .  .  B0 .  .  F1 .  .  B1 .\n"
            ".  .  F0 B0 .  .  .  .  F1 B1 .  .\n");
  EXPECT_EQ(draw(make_gpipe(pipeline({.stages = 3, .micro_batches = 4}))),
            "F0 F1 F2 F3 .  .  .  .  B0 B1 B2 B3\n"
            ".  F0 F1 F2 F3 .  .  B0 B1 B2 B3 .\n"
            ".  .  F0 F1 F2 F3 B0 B1 B2 B3 .  .\n");
  EXPECT_EQ(draw(make_1f1b(pipeline({.stages = 3, .micro_batches = 5}))),
            "F0 F1 F2 .  .  B0 F3 B1 F4 B2 .  B3 .  B4\n"
            ".  F0 F1 .  B0 F2 B1 F3 B2 F4 B3 .  B4 .\n"
            ".  .  F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 .  .\n");
  EXPECT_EQ(draw(make_interleaved(pipeline({.stages = 3, .micro_batches = 6, .chunks = 2})), 2),
            "F0 F1 F2 f0 f1 f2 F3 F4 b0 F5 b1 .  f3 b2 f4 B0 f5 B1 B2 .  b3 .  b4 .  b5 B3 B4 B5\n"
            ".  F0 F1 F2 f0 f1 f2 b0 F3 b1 F4 b2 F5 B0 f3 B1 f4 B2 f5 b3 .  b4 .  b5 B3 B4 B5 .\n"
            ".  .  F0 F1 F2 f0 b0 f1 b1 f2 b2 F3 B0 F4 B1 F5 B2 f3 b3 f4 b4 f5 b5 B3 B4 B5 .  .\n");
  EXPECT_EQ(draw(make_zero_bubble(pipeline({.stages = 4, .micro_batches = 8}))),
            "F0 F1 F2 F3 .  .  .  B0 W0 F4 B1 W1 F5 B2 W2 F6 B3 W3 F7 B4 W4 B5 W5 B6 W6 B7 W7\n"
            ".  F0 F1 F2 .  .  B0 F3 B1 W0 F4 B2 W1 F5 B3 W2 F6 B4 W3 F7 B5 W4 B6 W5 B7 W6 W7\n"
            ".  .  F0 F1 .  B0 F2 B1 F3 B2 W0 F4 B3 W1 F5 B4 W2 F6 B5 W3 F7 B6 W4 B7 W5 W6 W7\n"
            ".  .  .  F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1 F5 B5 W2 F6 B6 W3 F7 B7 W4 W5 W6 W7\n");
  EXPECT_EQ(draw(make_evaluation(pipeline({.stages = 3, .micro_batches = 4}))),
            "F0 F1 F2 F3 .  .\n"
            ".  F0 F1 F2 F3 .\n"
            ".  .  F0 F1 F2 F3\n");
}

std::string text_of(const StageProgram& program) {
  std::string text;
  for (const Instruction& i : program) text += to_string(i) + "\n";
  return text;
}

TEST(Schedule, TailOfAStepReadsAsPromised) {
  EXPECT_EQ(text_of(make_1f1b(pipeline({.stages = 2, .micro_batches = 1, .num_buckets = 3}))[1]),
            "Load 0\nRecvActivation 0\nForward 0\nLoss 0\n"
            "Backward 0 bucket 2\nReduceBucket 2\n"
            "Backward 0 bucket 1\nReduceBucket 1\nFoldBucket 2\nUpdateBucket 2\n"
            "Backward 0 bucket 0\nSendGradient 0\nReduceBucket 0\nFoldBucket 1\nUpdateBucket 1\n"
            "FoldBucket 0\nUpdateBucket 0\nGatherBucket 2\nGatherBucket 1\nGatherBucket 0\n");
}

TEST(Schedule, TailOfAZeroBubbleStepGoesByBucketInItsWeights) {
  EXPECT_EQ(text_of(make_zero_bubble(pipeline({.stages = 2, .micro_batches = 1, .num_buckets = 2}))[1]),
            "Load 0\nRecvActivation 0\nForward 0\nLoss 0\n"
            "BackwardInput 0\nSendGradient 0\n"
            "BackwardWeight 0 bucket 1\nReduceBucket 1\n"
            "BackwardWeight 0 bucket 0\nReduceBucket 0\nFoldBucket 1\nUpdateBucket 1\n"
            "FoldBucket 0\nUpdateBucket 0\nGatherBucket 1\nGatherBucket 0\n");
}

TEST(Schedule, TailOfAnInterleavedStepFoldsAChunksLastBucketBesideTheNextChunk) {
  EXPECT_EQ(text_of(make_interleaved(pipeline({.stages = 2, .micro_batches = 1, .num_buckets = 2, .chunks = 2}))[0]),
            "Load 0\nForward 0\nSendActivation 0\n"
            "RecvActivation 0 chunk 1\nForward 0 chunk 1\nSendActivation 0 chunk 1\n"
            "RecvGradient 0 chunk 1\nBackward 0 bucket 1 chunk 1\nReduceBucket 1 chunk 1\n"
            "Backward 0 bucket 0 chunk 1\nSendGradient 0 chunk 1\nReduceBucket 0 chunk 1\n"
            "FoldBucket 1 chunk 1\nUpdateBucket 1 chunk 1\n"
            "RecvGradient 0\nBackward 0 bucket 1\nReduceBucket 1\nFoldBucket 0 chunk 1\nUpdateBucket 0 chunk 1\n"
            "Backward 0 bucket 0\nReduceBucket 0\nFoldBucket 1\nUpdateBucket 1\n"
            "FoldBucket 0\nUpdateBucket 0\n"
            "GatherBucket 1 chunk 1\nGatherBucket 0 chunk 1\nGatherBucket 1\nGatherBucket 0\n");
}

}  // namespace
}  // namespace convoy
