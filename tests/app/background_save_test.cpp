/// Checkpoints that are written while steps go on: the same bytes, and what happens where a file cannot be written.
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/io/checkpoint.h"

#include "app/program.h"
#include "app/restart.h"
#include "app/runs.h"

namespace convoy::test {

namespace {

const std::vector<std::string> kOften = {"--checkpoint.every_steps=2", "--checkpoint.best=false"};

// All of a file but the parameters of its run, among which are its directory and whether it saves in the background.
std::vector<std::byte> bytes_without_parameters(const std::string& path) {
  io::Checkpoint checkpoint = read_checkpoint(path);
  checkpoint.parameters.clear();
  return io::encode_checkpoint(checkpoint);
}

}  // namespace

class BackgroundSave : public Restart {
 protected:
  // A folder has the name under which the file of this step would be written: whoever runs the test, that fails. It is
  // not empty, or it would go with what a killed run leaves.
  void block(int step) const { std::filesystem::create_directories(checkpoint(step) + ".partial/folder"); }
};

TEST_F(BackgroundSave, GivesTheBytesOfASaveThatAllRanksWaitFor) {
  const std::string waiting = directory_ / "waiting";
  for (const Grid& grid : {Grid{1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
    SCOPED_TRACE(name_of(grid));
    const std::vector<std::string> arguments = {"--checkpoint.every_steps=1", "--checkpoint.keep=0",
                                                "--train.ema_decay=0.9", "--optimizer.kind=adam",
                                                "--grid.stages=" + std::to_string(grid.stages)};
    const int ranks = grid.stages * grid.replicas;
    const ProcessResult first = train(4, arguments, ranks);
    ASSERT_EQ(first.status, 0) << first.output;
    const ProcessResult second = train(
        4, arguments + std::vector<std::string>{"--checkpoint.background=false", "--run.directory=" + waiting}, ranks);
    ASSERT_EQ(second.status, 0) << second.output;
    for (int step = 1; step <= 4; ++step)
      EXPECT_TRUE(bytes_without_parameters(checkpoint(step)) ==
                  bytes_without_parameters(io::checkpoint_path(waiting + "/checkpoints", step)))
          << "step " << step;
    EXPECT_TRUE(bytes_without_parameters(io::best_checkpoint_path(run_ + "/checkpoints")) ==
                bytes_without_parameters(checkpoint(4)))
        << "best.h5 was due in the same step";
    for (const std::string& run : {run_, waiting}) std::filesystem::remove_all(run);
  }
}

TEST_F(BackgroundSave, ThatFailsIsAWarningAndTheTrainingAndLaterCheckpointsGoOn) {
  for (const int ranks : {1, 2}) {
    SCOPED_TRACE(ranks);
    block(2);
    const ProcessResult result = train(6, kOften, ranks);
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_TRUE(contains(result.output, "warning: the checkpoint of step 2 is not saved: ")) << result.output;
    EXPECT_FALSE(std::filesystem::exists(checkpoint(2)));
    for (const int step : {4, 6}) EXPECT_TRUE(std::filesystem::exists(checkpoint(step))) << step;
    std::filesystem::remove_all(run_);
  }
}

TEST_F(BackgroundSave, OfTheLastStepMustSucceedOrTheRunFails) {
  for (const int ranks : {1, 2}) {
    SCOPED_TRACE(ranks);
    block(4);
    const ProcessResult result = train(4, kOften, ranks);
    EXPECT_EQ(result.status, 1) << result.output;
    EXPECT_TRUE(contains(result.output, "the last checkpoint, of step 4, is not saved: ")) << result.output;
    EXPECT_FALSE(contains(result.output, "done: step 4")) << result.output;
    EXPECT_TRUE(std::filesystem::exists(checkpoint(2)));
    std::filesystem::remove_all(run_);
  }
}

TEST_F(BackgroundSave, SwitchedOffFailsTheRunAtOnce) {
  block(2);
  const ProcessResult result = train(6, kOften + std::vector<std::string>{"--checkpoint.background=false"}, 2);
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_TRUE(contains(result.output, checkpoint(2))) << result.output;
  EXPECT_FALSE(std::filesystem::exists(checkpoint(4)));
}

}  // namespace convoy::test
