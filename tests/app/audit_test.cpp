/// A run on a processor that computes wrongly once ends before it learns from it, and resumes as if nothing had
/// happened.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/program.h"
#include "app/runs.h"
#include "app/small_data.h"

namespace convoy::test {

namespace {

class Audit : public Runs {
 protected:
  static constexpr int kSteps = 6;

  ProcessResult start(const std::string& name, const Grid& grid, const std::string& fault, int audit_every = 1,
                      int save_every = 2) const {
    return run_program(
        {.arguments = arguments_ + std::vector<std::string>{"--grid.stages=" + std::to_string(grid.stages),
                                                            "--run.audit_every=" + std::to_string(audit_every),
                                                            "--checkpoint.every_steps=" + std::to_string(save_every),
                                                            "--checkpoint.keep=1", "--run.bucket_mib=0.05",
                                                            "--train.max_steps=" + std::to_string(kSteps),
                                                            "--run.directory=" + (directory_ / name)},
         .ranks = grid.stages * grid.replicas,
         .program = CONVOY_FAULTY_PROGRAM,
         .tool = {"env", "CONVOY_TEST_FAULT=" + fault}});
  }
};

}  // namespace

TEST_F(Audit, OfASoundProcessorFindsNothingAndSaysWhatItCost) {
  train("plain", {1, 1}, kSteps);
  for (const Grid& grid : {Grid{1, 1}, Grid{2, 2}}) {
    const std::string name = "audited " + name_of(grid);
    const ProcessResult result = start(name, grid, "none");
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_TRUE(contains(result.output, "audits: 6 steps, none was found wrong")) << result.output;
    expect_same_run("plain", name, kSteps);
  }
}

TEST_F(Audit, EndsARunBeforeItLearnsFromAWrongRankAndItResumesToTheSameBits) {
  train("plain", {1, 1}, kSteps);
  // The last stage of the last replica, from step 5 on: there are eight micro-batches in a step.
  for (const auto& [grid, fault] : {std::pair<Grid, std::string>{{1, 1}, "0:33"}, {{2, 2}, "3:17"}, {{1, 2}, "1:17"}}) {
    const std::string name = "faulty " + name_of(grid), rank = fault.substr(0, 1);
    SCOPED_TRACE(name);
    const ProcessResult ended = start(name, grid, fault);
    EXPECT_EQ(ended.status, 75) << ended.output;
    EXPECT_TRUE(contains(ended.output, "audit of step 5: rank " + rank + " (replica")) << ended.output;
    EXPECT_TRUE(contains(ended.output, "the loss's gradient is not the same as in other computations")) << ended.output;
    EXPECT_TRUE(contains(ended.output, "stopped by an audit")) << ended.output;
    EXPECT_TRUE(contains(ended.output, "step-00000004.h5")) << "what it is resumed from\n" << ended.output;
    const std::string log = read_text((directory_ / name) + "/audit.log");
    EXPECT_TRUE(contains(log, "step 5: rank " + rank)) << log;
    EXPECT_TRUE(contains(read_text((directory_ / name) + "/steps.csv"), ",audit,"));

    const ProcessResult resumed = start(name, grid, "none");
    EXPECT_EQ(resumed.status, 0) << resumed.output;
    expect_same_run("plain", name, kSteps);
  }
}

TEST_F(Audit, EndsWithTheSameStatusWhereTheWrongRankCrashesAtLast) {
  const ProcessResult ended = start("crashing", {1, 2}, "1:17:crash");
  EXPECT_EQ(ended.status, 75) << ended.output;
  EXPECT_TRUE(contains(ended.output, "audit of step 5: rank 1 (replica 1, stage 0)")) << ended.output;
  const ProcessResult resumed = start("crashing", {1, 2}, "none");
  EXPECT_EQ(resumed.status, 0) << resumed.output;
}

TEST_F(Audit, SetsCheckpointsAsideThatAWrongRankMayHaveHadAPartIn) {
  train("plain", {1, 1}, kSteps);
  const ProcessResult ended =
      start("faulty", {1, 2}, "1:17", /*audit_every=*/3, /*save_every=*/1);  // wrong from step 5 on
  EXPECT_EQ(ended.status, 75) << ended.output;
  EXPECT_TRUE(contains(ended.output, "audit of step 6: rank 1 (replica 1, stage 0)")) << ended.output;
  EXPECT_TRUE(contains(ended.output, "Checkpoints after step 3, the last step that was checked")) << ended.output;
  const std::string checkpoints = (directory_ / "faulty") + "/checkpoints";
  EXPECT_TRUE(std::filesystem::exists(checkpoints + "/step-00000003.h5")) << "though one alone is kept";
  EXPECT_TRUE(std::filesystem::exists(checkpoints + "/step-00000005.h5.suspect"));
  EXPECT_FALSE(std::filesystem::exists(checkpoints + "/step-00000005.h5"));

  const ProcessResult resumed = start("faulty", {1, 2}, "none", 3, 1);
  EXPECT_EQ(resumed.status, 0) << resumed.output;
  expect_same_run("plain", "faulty", kSteps);
}

TEST_F(Audit, IsPlanned) {
  const ProcessResult plan = run_program(
      {.arguments = std::vector<std::string>{"plan"} +
                    std::vector<std::string>(arguments_.begin() + 1, arguments_.end()) +
                    std::vector<std::string>{"--run.audit_every=100", "--run.directory=" + (directory_ / "plan")}});
  EXPECT_EQ(plan.status, 0) << plan.output;
  EXPECT_TRUE(contains(plan.output, "audit: every 100 steps, ")) << plan.output;
}

}  // namespace convoy::test
