/// A part of the training data (data.limit): the same bits on every grid and after restarts, seen by every command.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/runs.h"
#include "app/small_data.h"
#include "unit/messages.h"

namespace convoy::test {

namespace {

class Subset : public Runs {
 protected:
  Subset() = default;
  explicit Subset(ImportData& import_data) : Runs(import_data) {}

  // Trains on a part with 4 steps per epoch: step 6 is within the second epoch.
  void expect_same_bits_everywhere() {
    features_ = {"--data.limit=40 %"};
    train("1x1", {1, 1}, 6);
    EXPECT_CONTAINS(output_, "256 training samples");
    EXPECT_CONTAINS(output_, "data.limit = 40 %");
    EXPECT_CONTAINS(output_, "epoch: 4 steps");
    train("2x2", {2, 2}, 6);
    expect_same_run("1x1", "2x2", 6);
    train("pieces", {2, 1}, 3);
    train("pieces", {1, 2}, 6);
    expect_same_run("1x1", "pieces", 6);
    features_ = {"--data.limit=256", "--data.copy_to=memory"};  // the same number in other words, read from copies
    train("copied", {1, 2}, 6);
    expect_same_run("1x1", "copied", 6);
    features_ = {};
    train("all", {1, 1}, 6);
    EXPECT_NE(checkpoint("all", 6).model[0].values, checkpoint("1x1", 6).model[0].values);
  }
};

class SubsetOfTexts : public Subset {
 protected:
  SubsetOfTexts() : Subset(import_small_texts) {}
};

}  // namespace

TEST_F(Subset, OfImagesGivesTheSameBitsOnEveryGridAndResumed) {
  expect_same_bits_everywhere();
}

TEST_F(SubsetOfTexts, GivesTheSameBitsOnEveryGridAndResumed) {
  expect_same_bits_everywhere();
}

TEST_F(Subset, IsResumedWithTheSameLimitAlone) {
  features_ = {"--data.limit=40 %"};
  train("run", {1, 1}, 3);
  const std::string run = directory_ / "run";
  const auto resume = [&](const std::vector<std::string>& more) {
    return run_program({.arguments = std::vector<std::string>{"train", run, "--train.max_steps=4"} + more});
  };
  const ProcessResult other = resume({"--data.limit=20 %"}), all = resume({"--data.limit="});
  EXPECT_EQ(other.status, 2);
  EXPECT_CONTAINS(other.output, "data.limit = 20 %, but " + run);
  EXPECT_CONTAINS(other.output, "was written with 40 %: an epoch has another number of samples");
  EXPECT_EQ(all.status, 2);
  EXPECT_CONTAINS(all.output, "data.limit = (empty), but " + run);
  EXPECT_EQ(resume({}).status, 0);
  // Other commands take the run's directory in place of its parameter file, too.
  const ProcessResult replayed = run_program({.arguments = {"replay", run, "--replay.steps=2-4"}, .ranks = 2});
  EXPECT_EQ(replayed.status, 0) << replayed.output;
  EXPECT_CONTAINS(replayed.output, "losses: all 3 are equal to the recorded ones, bit by bit");
  const ProcessResult evaluated = run_program({.arguments = {"evaluate", run + "/"}});
  EXPECT_EQ(evaluated.status, 0) << evaluated.output;
  EXPECT_CONTAINS(evaluated.output, "96 samples");
}

TEST_F(Subset, IsSeenByCheckAndPlan) {
  const std::vector<std::string> keys(arguments_.begin() + 1, arguments_.end());
  const auto say = [&](const std::string& command, const std::string& limit) {
    const std::vector<std::string> more = {"--data.limit=" + limit, "--run.directory=" + (directory_ / "run")};
    return run_program({.arguments = std::vector<std::string>{command} + keys + more});
  };
  EXPECT_CONTAINS(say("check", "40 %").output, "256 images in 1 shard");
  EXPECT_CONTAINS(say("plan", "40 %").output, "epoch: 4 steps");
  for (const std::string command : {"check", "plan", "train"}) {
    const ProcessResult refused = say(command, "1000");
    EXPECT_EQ(refused.status, 2) << refused.output;
    EXPECT_CONTAINS(refused.output, "data.limit = 1000 is more than the 640 samples of data.train");
  }
  EXPECT_CONTAINS(say("train", "60").output, "batch.global = 64 is more than the 60 samples of data.train");
}

// The results of two seeds in one table.
TEST_F(Subset, RunsAreSummedUp) {
  for (const std::string seed : {"1", "2"}) {
    features_ = {"--train.seed=" + seed, "--data.limit=64"};
    train("seed-" + seed, {1, 1}, 2);
  }
  const ProcessResult table =
      run_program({.arguments = {"compare", "--summary", directory_ / "seed-1", directory_ / "seed-2"}});
  EXPECT_EQ(table.status, 0) << table.output;
  EXPECT_CONTAINS(table.output, "train.seed = 1; 2\n");
  EXPECT_CONTAINS(table.output, "test top-1");
  EXPECT_CONTAINS(table.output, "standard deviation");
  EXPECT_EQ(run_program({.arguments = {"compare", "--summary"}}).status, 2);
  EXPECT_EQ(run_program({.arguments = {"train", "--summary", directory_ / "seed-1"}}).status, 2);
}

}  // namespace convoy::test
