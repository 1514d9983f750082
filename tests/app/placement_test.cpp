/// The placement of ranks only changes the time: the same bits with and without it. And it is shown.
#include <gtest/gtest.h>

#include "app/program.h"
#include "app/runs.h"
#include "comm/processors.h"

namespace convoy::test {

namespace {

class PlacedRun : public Runs {
 protected:
  // Uses enough threads to fill this machine, if it has an even number of processors.
  void train_on_two(const std::string& placement) {
    features_ = {"--run.threads=0", "--run.placement=" + placement};
    train(placement, {1, 2}, 3);
  }
};

}  // namespace

TEST_F(PlacedRun, HasTheSameBitsAndSaysWhereItsRanksAre) {
  const bool fills = count_processors(affinity_mask()) % 2 == 0 && quota_processors() == kNoQuota;
  train_on_two("auto");
  EXPECT_EQ(contains(output_, "2 ranks on it; each rank on "), fills) << output_;
  train_on_two("none");
  EXPECT_FALSE(contains(output_, "each rank on ")) << output_;
  expect_same_run("auto", "none", 3);
}

TEST(Info, WithoutPathsDescribesTheMachineAndItsRanks) {
  const ProcessResult info = run_program({.arguments = {"info"}, .ranks = 2});
  EXPECT_EQ(info.status, 0) << info.output;
  for (const std::string part : {"convoy ", "\n  libraries       ", "\n  processor       ", "\n  huge pages      ",
                                 "\n  NVIDIA GPUs     ", "\nrank 0 on ", "\nrank 1 on "})
    EXPECT_TRUE(contains("\n" + info.output, part)) << part << "\n" << info.output;
  EXPECT_EQ(run_program({.arguments = {"check"}}).status, 2) << "check has nothing to describe";
}

}  // namespace convoy::test
