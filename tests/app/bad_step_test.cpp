/// Steps with bad numbers: the same one on every grid, never applied, and stopped at, skipped or gone back from.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"

#include "app/program.h"
#include "app/runs.h"
#include "app/small_data.h"

namespace convoy::test {

namespace {

// Returns the first line that has this part; empty if there is none.
std::string line_with(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

// Returns the output from "step 3 is bad" on.
std::string report_in(const std::string& output) {
  const std::string line = line_with(output, " is bad: ");
  const std::size_t begin = line.find("step ");
  return begin == std::string::npos ? "" : line.substr(begin);
}

class BadStep : public Runs {
 protected:
  const std::vector<Grid> grids_ = {{2, 1}, {2, 2}};

  ProcessResult start(const std::string& name, const Grid& grid, const std::vector<std::string>& more) const {
    return run_program(
        {.arguments = arguments_ + features_ + more +
                      std::vector<std::string>{"--grid.stages=" + std::to_string(grid.stages), "--run.bucket_mib=0.05",
                                               "--run.directory=" + (directory_ / name)},
         .ranks = grid.stages * grid.replicas});
  }

  // Returns weights of one step, with these tensors multiplied by a number.
  std::string scaled_weights(const std::map<std::string, float>& scales) {
    train("begin", {1, 1}, 1);
    io::Checkpoint changed = checkpoint("begin", 1);
    for (io::NamedTensor& tensor : changed.model)
      if (const auto scale = scales.find(tensor.name); scale != scales.end())
        for (float& value : tensor.values) value *= scale->second;
    const std::string path = directory_ / "changed.h5";
    io::write_file_atomically(path, io::encode_checkpoint(changed));
    return "--init.weights=" + path;
  }

  // Adds to the features the first limit, from high to low, that makes a step bad; the other steps are applied.
  std::string limit_that_some_steps_exceed() {
    const std::vector<std::string> features = features_;
    for (double limit = 3; limit > 1; limit *= 0.9) {
      features_ = features + std::vector<std::string>{fmt::format("--train.loss_limit={:.3f}", limit)};
      std::string name = fmt::format("limit {:.3f}", limit);
      train(name, {1, 1}, kSteps);
      if (checkpoint(name, kSteps).state.bad_steps == 0) continue;
      EXPECT_LT(checkpoint(name, kSteps).state.bad_steps, kSteps);
      return name;
    }
    ADD_FAILURE() << "no step is ever bad";
    return "";
  }

  // Expects the same end and the same table of steps on every grid, and the same report of the first bad step.
  void expect_same_skips(const std::vector<std::string>& features) {
    SCOPED_TRACE(testing::PrintToString(features));
    features_ = features + std::vector<std::string>{"--train.on_bad_step=skip"};
    const std::string alone = limit_that_some_steps_exceed();
    const std::string report = report_in(output_);
    EXPECT_TRUE(contains(report, "above train.loss_limit")) << output_;
    EXPECT_TRUE(contains(read_text((directory_ / alone) + "/steps.csv"), ",bad,"));
    EXPECT_TRUE(contains(output_, "skipped (steps.csv has 'bad' in its column skipped)")) << output_;
    for (const Grid& grid : grids_) {
      const std::string name = alone + name_of(grid);
      train(name, grid, kSteps);
      expect_same_run(alone, name, kSteps);
      EXPECT_EQ(report_in(output_), report) << name;
    }
  }

  static constexpr int kSteps = 6;
};

class BadStepInDepth : public BadStep {};

}  // namespace

TEST_F(BadStep, StopsTheRunBeforeItIsAppliedAndSaysWhereItBeganOnEveryGrid) {
  const std::string weights = scaled_weights({{"layer2.1.conv2.weight", 3e38F}});
  std::string report;
  for (const Grid& grid : {Grid{1, 1}, Grid{2, 1}, Grid{1, 2}, Grid{2, 2}}) {
    const ProcessResult result = start("stop " + name_of(grid), grid, {weights});
    EXPECT_EQ(result.status, 1) << result.output;
    if (report.empty()) report = report_in(result.output);
    EXPECT_EQ(report_in(result.output), report) << name_of(grid);
  }
  EXPECT_TRUE(contains(report, "step 1 is bad: the loss of micro-batch 0 is not a finite number. The training has"))
      << report;
  EXPECT_TRUE(contains(report, "All 8 micro-batches are bad. The first cell")) << report;
  EXPECT_TRUE(
      contains(report, "The first cell whose output is not finite is layer2.1 (cell 6 of 11), in micro-batch 0"))
      << report;
  EXPECT_TRUE(contains(report, "All inputs and parameters are finite.")) << report;
  EXPECT_TRUE(contains(report, "The step was not applied, and the run ends. There is no checkpoint from before"))
      << report;
}

TEST_F(BadStep, AnInfiniteGradientOfAFiniteLossIsSeenToo) {
  // A batch norm of zeros gives its bias, whatever its weight; backward multiplies by weight / sqrt(1e-5).
  const std::string weights =
      scaled_weights({{"layer3.2.conv2.weight", 0}, {"layer3.2.bn2.weight", 5e35F}, {"fc.weight", 1e6F}});
  std::string report;
  for (const Grid& grid : {Grid{1, 1}, Grid{2, 1}, Grid{2, 2}}) {
    const ProcessResult result = start("gradient " + name_of(grid), grid, {weights});
    EXPECT_EQ(result.status, 1) << result.output;
    if (report.empty()) report = report_in(result.output);
    EXPECT_EQ(report_in(result.output), report) << name_of(grid);
  }
  EXPECT_TRUE(contains(report, "step 1 is bad: the loss is finite, but in the gradient of 'layer3.2.conv2.weight' "))
      << report;
  EXPECT_TRUE(contains(report, "The output of every cell is finite. All inputs and parameters are finite.")) << report;
}

TEST_F(BadStep, SkippedStepsAreTheSameOnEveryGrid) {
  expect_same_skips({});
}

TEST_F(BadStepInDepth, SkippedStepsAreTheSameClippedInBf16AndRecomputed) {
  expect_same_skips({"--train.precision=bf16", "--memory.recompute=cell", "--train.clip_norm=0.5"});
}

TEST_F(BadStepInDepth, SkippedStepsAreTheSameWithLars) {
  expect_same_skips({"--optimizer.kind=lars", "--train.ema_decay=0.9"});
}

TEST_F(BadStepInDepth, SkippedStepsAreTheSameWithLamb) {
  expect_same_skips({"--optimizer.kind=lamb", "--optimizer.lr=0.01"});
}

TEST_F(BadStepInDepth, SkippedStepsAreTheSameWithEverySchedule) {
  features_ = {"--train.on_bad_step=skip"};
  const std::string alone = limit_that_some_steps_exceed();
  const std::string report = report_in(output_);
  for (const std::string schedule : {"naive", "gpipe", "zero_bubble", "interleaved"}) {
    train(schedule, {2, 2}, kSteps, schedule);
    expect_same_run(alone, schedule, kSteps);
    EXPECT_EQ(report_in(output_), report) << schedule;
  }
}

TEST_F(BadStep, TooManySkippedInARowEndTheRun) {
  features_ = {"--train.on_bad_step=skip", "--train.loss_limit=0.001", "--train.max_bad_steps=3"};
  const ProcessResult result = start("many", {1, 2}, {});
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_TRUE(contains(result.output, "step 3 is bad: the loss of micro-batch 0 is ")) << result.output;
  EXPECT_TRUE(contains(result.output, "The step is skipped: it changes nothing (3 steps skipped so far, 3 in a row)"))
      << result.output;
  EXPECT_TRUE(contains(result.output, "step 4 is bad: ")) << result.output;
  EXPECT_TRUE(contains(result.output, "since 3 bad steps in a row were skipped before it (train.max_bad_steps)"))
      << result.output;
  EXPECT_FALSE(contains(result.output, "step 5 is bad")) << result.output;
}

TEST_F(BadStep, TrainingGoesBackToTheLastGoodCheckpointWithALowerRateAlikeOnEveryGridAndAfterARestart) {
  // Ten steps that learn, then a rate that explodes: a hundred-thousandth of it learns again.
  features_ = {"--lr.schedule=constant", "--checkpoint.every_steps=1", "--checkpoint.best=false"};
  train("begin", {1, 1}, 10);
  features_.insert(features_.end(), {"--optimizer.lr=1000", "--train.on_bad_step=rollback",
                                     "--train.rollback_factor=0.00001", "--checkpoint.keep=4"});
  const auto copy_of_begin = [&](const std::string& name) {
    std::filesystem::copy(directory_ / "begin", directory_ / name, std::filesystem::copy_options::recursive);
  };
  copy_of_begin("1x1");
  train("1x1", {1, 1}, 18);
  EXPECT_TRUE(
      contains(output_, "training goes back to " + io::checkpoint_path((directory_ / "1x1") + "/checkpoints", 10) +
                            " (step 10); the learning rate is now 1e-05 of what lr.schedule gives. Rollback 1 of "
                            "at most 3"))
      << output_;
  EXPECT_EQ(checkpoint("1x1", 18).state.rollbacks, 1);
  EXPECT_EQ(checkpoint("1x1", 18).state.rate_factor, 0.00001);
  EXPECT_TRUE(contains(read_text(directory_ / "1x1/steps.csv"), ",0.01")) << "the rate of later rows";
  const std::string log = read_text(directory_ / "1x1/log.jsonl");
  EXPECT_TRUE(contains(log, R"("skipped":"bad")")) << log;
  EXPECT_TRUE(contains(line_with(log, R"("kind":"rollback")"), R"("step":10,"rate_factor":1e-05)")) << log;
  copy_of_begin("2x2");
  train("2x2", {2, 2}, 18);
  expect_same_run("1x1", "2x2", 18);
  copy_of_begin("pieces");
  train("pieces", {2, 1}, 15);
  EXPECT_TRUE(contains(output_, "goes back")) << output_;
  train("pieces", {1, 2}, 18);
  EXPECT_FALSE(contains(output_, "goes back")) << output_;
  expect_same_run("1x1", "pieces", 18);
}

TEST_F(BadStep, ARunThatDivergesFromItsBeginGoesBackThereAndStopsInTheEnd) {
  features_ = {"--lr.schedule=constant", "--optimizer.lr=1000", "--train.on_bad_step=rollback",
               "--train.rollback_factor=0.9", "--train.max_rollbacks=2"};
  const ProcessResult result = start("run", {1, 2}, {});
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_TRUE(contains(result.output, "step-00000000.h5 (step 0); the learning rate is now 0.9 of")) << result.output;
  EXPECT_TRUE(contains(result.output, "step-00000000.h5 (step 0); the learning rate is now 0.81 of")) << result.output;
  EXPECT_TRUE(contains(result.output, "since training went back 2 times before (train.max_rollbacks)"))
      << result.output;
}

}  // namespace convoy::test
