/// A part of the samples that leaves few steps per epoch is reported, with the figures that a user needs.
#include <gtest/gtest.h>

#include "convoy/params/parameters.h"

#include "run/run_data.h"
#include "unit/messages.h"

namespace convoy {
namespace {

TEST(FewSteps, AreReportedIfDataLimitIsTheReason) {
  Parameters params;
  params.batch.global = 128;
  const StepCount few{.per_epoch = 1, .total = 20}, enough{.per_epoch = 4, .total = 80};
  EXPECT_EQ(describe_few_steps(params, few, 150), "") << "all samples are used";
  params.data.limit = {.count = 150};
  EXPECT_EQ(describe_few_steps(params, enough, 600), "");
  const std::string text = describe_few_steps(params, few, 150);
  EXPECT_CONTAINS(text,
                  "data.limit = 150 leaves 150 samples: with batch.global = 128 an epoch has only 1 step, and the");
  EXPECT_CONTAINS(text, "whole training 20. Give a smaller batch.global for more steps");
}

}  // namespace
}  // namespace convoy
