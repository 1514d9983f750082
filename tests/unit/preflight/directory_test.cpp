/// Tests the room for checkpoints, and that a directory is left as it was after it has been tried out.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "convoy/params/run_parameters.h"

#include "preflight/directory_checks.h"

namespace convoy::preflight {

namespace {

class Directory : public testing::Test {
 protected:
  Directory() { std::filesystem::create_directories(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("convoy-preflight-directory-" + std::to_string(getpid()));
};

}  // namespace

TEST(Space, IsAskedForTheKeptCheckpointsTheBestAndTheOneBeingWritten) {
  const DiskSpace space{.free_bytes = 3000, .used_bytes = 1000, .checkpoint_bytes = 1000};
  EXPECT_EQ(judge_space(space, {.keep = 2, .best = true}, 10).outcome, Outcome::kOk);
  EXPECT_EQ(judge_space(space, {.keep = 3, .best = true}, 10).outcome, Outcome::kFails);
  EXPECT_EQ(judge_space(space, {.keep = 3, .best = false}, 10).outcome, Outcome::kOk);
}

TEST(Space, IsAskedForAllCheckpointsOfTheRunWhereAllAreKeptButForNoMoreThanItWrites) {
  const DiskSpace space{.free_bytes = 10'000, .checkpoint_bytes = 1000};
  EXPECT_EQ(judge_space(space, {.keep = 0, .best = true}, 8).outcome, Outcome::kOk);
  EXPECT_EQ(judge_space(space, {.keep = 0, .best = true}, 9).outcome, Outcome::kFails);
  EXPECT_EQ(judge_space(space, {.keep = 100, .best = true}, 8).outcome, Outcome::kOk);
}

TEST_F(Directory, ThatIsProbedIsLeftAsItWas) {
  std::ofstream(root_ / "there") << "kept";
  const Finding finding = probe_directory(root_ / "a/b", 1000);
  EXPECT_EQ(finding.outcome, Outcome::kOk) << finding.text;
  EXPECT_FALSE(std::filesystem::exists(root_ / "a"));
  EXPECT_EQ(probe_directory(root_, 1000).outcome, Outcome::kOk);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root_), {}), 1);
}

TEST_F(Directory, ThatCannotBeMadeFails) {
  std::ofstream(root_ / "file") << "no directory";
  EXPECT_EQ(look_at_directory(root_ / "file/run").outcome, Outcome::kFails);
  EXPECT_EQ(probe_directory(root_ / "file/run", 1000).outcome, Outcome::kFails);
  EXPECT_EQ(probe_directory("/proc/convoy/run", 1000).outcome, Outcome::kFails);
}

TEST_F(Directory, ThatIsFreeAndThatCanBeMadeAreTold) {
  EXPECT_EQ(look_at_directory(root_), ok(root_.string() + " exists, and no other run uses it"));
  EXPECT_EQ(look_at_directory(root_ / "new"), ok((root_ / "new").string() + " can be created"));
  EXPECT_FALSE(std::filesystem::exists(root_ / "new"));
}

}  // namespace convoy::preflight
