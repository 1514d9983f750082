/// The layout never changes the answer: checkpoints and losses have the same bits on every grid, with every schedule,
/// and after a restart onto another grid.
#include <gtest/gtest.h>

#include "app/runs.h"
#include "app/small_data.h"

namespace convoy::test {

using Layout = Runs;

TEST_F(Layout, EveryGridGivesTheSameBits) {
  train("1x1", {1, 1}, 12);
  for (const Grid& grid : {Grid{2, 1}, Grid{1, 2}, Grid{2, 2}, Grid{4, 1}, Grid{1, 4}, Grid{4, 2}}) {
    const std::string name = name_of(grid);
    train(name, grid, 12);
    expect_same_run("1x1", name);
  }
  // And the test can fail: training has moved on since step 6.
  train("other", {1, 1}, 6);
  EXPECT_NE(checkpoint("other", 6).model[0].values, checkpoint("1x1", 12).model[0].values);
}

TEST_F(Layout, EveryScheduleGivesTheSameBits) {
  train("1f1b", {2, 2}, 12);
  for (const std::string schedule : {"naive", "gpipe"}) {
    train(schedule, {2, 2}, 12, schedule);
    expect_same_run("1f1b", schedule);
  }
}

TEST_F(Layout, ARestartOntoAnotherGridInMidEpochGivesTheSameBits) {
  train("whole", {1, 1}, 12);
  train("pieces", {2, 2}, 5);  // 10 steps an epoch: both cuts are uneven
  train("pieces", {4, 1}, 11);
  train("pieces", {1, 2}, 12, "gpipe", "4");
  expect_same_run("whole", "pieces");
}

TEST_F(Layout, EpochRowsAreTheSameAfterARestartInMidEpoch) {
  const auto row_of_epoch_1 = [&](const std::string& name) {
    const std::string text = read_text((directory_ / name) + "/log.csv");
    const std::size_t begin = text.find("\n1,") + 1;
    std::size_t end = begin;
    for (int comma = 0; comma < 8; ++comma) end = text.find(',', end) + 1;  // timings differ
    return text.substr(begin, end - begin);
  };
  train("whole", {1, 1}, 10);
  train("pieces", {2, 1}, 7);
  train("pieces", {1, 2}, 10);
  EXPECT_EQ(row_of_epoch_1("whole"), row_of_epoch_1("pieces"));
  EXPECT_EQ(row_of_epoch_1("whole").substr(0, 9), "1,10,640,");
}

TEST_F(Layout, FastReductionTrainsTooAndSaysWhatItCosts) {
  const Ending ending =
      run_program({.arguments = arguments_ + std::vector<std::string>{"--train.max_steps=3", "--run.reduction=fast",
                                                                      "--run.directory=" + (directory_ / "fast")},
                   .ranks = 2});
  EXPECT_EQ(ending.status, 0) << ending.output;
  EXPECT_NE(ending.output.find("only runs with 2 replicas will give the same bits"), std::string::npos)
      << ending.output;
  // Another order of the same sums: equal to the invariant run within float32's rounding, through three steps.
  train("invariant", {1, 2}, 3);
  const io::Checkpoint fast = checkpoint("fast", 3), invariant = checkpoint("invariant", 3);
  for (std::size_t i = 0; i < fast.model.size(); ++i)
    for (std::size_t j = 0; j < fast.model[i].values.size(); ++j)
      ASSERT_NEAR(fast.model[i].values[j], invariant.model[i].values[j], 1e-3) << fast.model[i].name;
}

TEST_F(Layout, UnequalSharesOfMicroBatchesAreSaid) {
  const Ending ending =
      run_program({.arguments = arguments_ + std::vector<std::string>{"--train.max_steps=2",
                                                                      "--run.directory=" + (directory_ / "three")},
                   .ranks = 3});
  EXPECT_EQ(ending.status, 0) << ending.output;
  EXPECT_NE(ending.output.find("only runs with 3 replicas"), std::string::npos) << ending.output;
  // Other groups of the same sums: equal within float32's rounding, through two steps.
  train("one", {1, 1}, 2);
  const io::Checkpoint three = checkpoint("three", 2), one = checkpoint("one", 2);
  for (std::size_t i = 0; i < three.model.size(); ++i)
    for (std::size_t j = 0; j < three.model[i].values.size(); ++j)
      ASSERT_NEAR(three.model[i].values[j], one.model[i].values[j], 1e-3) << three.model[i].name;
}

}  // namespace convoy::test
