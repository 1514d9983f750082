/// Checkpoints that are written while training continues: they have the same bytes; and the cases in which a file
/// cannot be written.
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/io/checkpoint.h"

#include "app/program.h"
#include "app/restart.h"
#include "app/runs.h"

namespace convoy::test {

namespace {

const std::vector<std::string> kInParts = {"--checkpoint.files=sharded"};
const std::vector<std::string> kOften = {"--checkpoint.every_steps=2", "--checkpoint.best=false"};

// Returns the bytes of a file without the parameters of its run, which name its directory and whether it saves in the
// background.
std::vector<std::byte> bytes_without_parameters(const std::string& path) {
  io::Checkpoint checkpoint = read_checkpoint(path);
  checkpoint.parameters.clear();
  return io::encode_checkpoint(checkpoint);
}

}  // namespace

class BackgroundSave : public Restart {
 protected:
  // Makes a folder with the name under which the file of this step would be written: writing then fails for any user,
  // also for root. It is not empty, or it would be removed with the remains of killed runs.
  void block(int step) const { std::filesystem::create_directories(checkpoint(step) + ".partial/folder"); }
  /// Number of folders of parts.
  int count_folders() const {
    int num = 0;
    for (const auto& entry : std::filesystem::directory_iterator(run_ + "/checkpoints"))
      if (entry.path().extension() == ".parts") ++num;
    return num;
  }
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

// Three saves during training, best.h5 among them. Joined, each is the file that one rank would have written.
TEST_F(BackgroundSave, InPartsHoldsTheSameBytes) {
  const std::string one = directory_ / "one";
  const std::vector<std::string> often = {"--checkpoint.every_steps=1", "--checkpoint.keep=0", "--train.ema_decay=0.9",
                                          "--optimizer.kind=adam"};
  ASSERT_EQ(train(4, often + std::vector<std::string>{"--run.directory=" + one}, 1).status, 0);
  const std::vector<std::string> waits = {"--checkpoint.background=false"};
  const std::pair<Grid, std::vector<std::string>> cases[] = {
      {{1, 1}, {}}, {{2, 1}, {}}, {{1, 2}, {}}, {{2, 2}, {}}, {{2, 2}, waits}};
  for (const auto& [grid, more] : cases) {
    SCOPED_TRACE(name_of(grid) + (more.empty() ? ", in the background" : ", and all ranks wait"));
    const ProcessResult result =
        train(4, often + kInParts + more + std::vector<std::string>{"--grid.stages=" + std::to_string(grid.stages)},
              grid.stages * grid.replicas);
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(run_program({.arguments = {"check", checkpoint(2)}, .ranks = 0}).status, 0);
    std::vector<std::string> files = {io::best_checkpoint_path(run_ + "/checkpoints")};
    for (int step = 1; step <= 4; ++step) files.push_back(checkpoint(step));
    EXPECT_EQ(count_folders(), 4) << "best.h5 lists those of step 4";
    ASSERT_EQ(run_program({.arguments = std::vector<std::string>{"join"} + files, .ranks = 0}).status, 0);
    for (int step = 1; step <= 4; ++step)
      EXPECT_TRUE(bytes_without_parameters(checkpoint(step)) ==
                  bytes_without_parameters(io::checkpoint_path(one + "/checkpoints", step)))
          << "step " << step;
    EXPECT_TRUE(bytes_without_parameters(files.front()) == bytes_without_parameters(checkpoint(4)));
    EXPECT_EQ(count_folders(), 0);
    std::filesystem::remove_all(run_);
  }
}

TEST_F(BackgroundSave, InPartsIsResumedOnOtherGridsAndInOneFileTooWithTheSameBits) {
  const std::string undisturbed = directory_ / "undisturbed";
  const std::vector<std::string> often = {"--checkpoint.every_steps=2", "--train.ema_decay=0.9"};
  ASSERT_EQ(train(8, often + std::vector<std::string>{"--run.directory=" + undisturbed}, 1).status, 0);
  const struct {
    int steps, stages, ranks;
    std::string files;
  } starts[] = {{2, 2, 4, "sharded"}, {4, 1, 1, "one"}, {5, 1, 2, "sharded"}, {7, 4, 4, "sharded"}, {8, 2, 2, "one"}};
  for (const auto& start : starts) {
    const ProcessResult result =
        train(start.steps,
              often + std::vector<std::string>{"--checkpoint.files=" + start.files,
                                               "--grid.stages=" + std::to_string(start.stages)},
              start.ranks);
    ASSERT_EQ(result.status, 0) << result.output;
  }
  EXPECT_TRUE(bytes_without_parameters(checkpoint(8)) ==
              bytes_without_parameters(io::checkpoint_path(undisturbed + "/checkpoints", 8)));
}

TEST_F(BackgroundSave, InPartsWhoseListCannotBeWrittenLeavesNoParts) {
  block(2);
  const ProcessResult result = train(4, kOften + kInParts, 2);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "warning: the checkpoint of step 2 is not saved: ")) << result.output;
  EXPECT_EQ(count_folders(), 1) << "of step 4";
  EXPECT_EQ(run_program({.arguments = {"check", checkpoint(4)}, .ranks = 0}).status, 0);
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
