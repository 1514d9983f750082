/// A restart takes the newest whole checkpoint and gives the reason for each that it skips; old checkpoints are
/// removed.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>

#include <gtest/gtest.h>

#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"

#include "unit/io/checkpoint_samples.h"
#include "unit/io/temporary_directory.h"

namespace convoy::io {
namespace {

namespace fs = std::filesystem;
using test::make_checkpoint;
using test::TemporaryDirectory;

using Skipped = std::vector<std::pair<std::string, std::string>>;

std::optional<FoundCheckpoint> find(const std::string& directory, Skipped& skipped) {
  return find_newest_checkpoint(
      directory, [&](const std::string& path, const std::string& reason) { skipped.emplace_back(path, reason); });
}

void write(const std::string& directory, std::int64_t step) {
  write_file_atomically(checkpoint_path(directory, step), encode_checkpoint(make_checkpoint(step)));
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

TEST(CheckpointDirectory, PathsSortByStep) {
  EXPECT_EQ(checkpoint_path("a/b", 1234), "a/b/step-00001234.h5");
  EXPECT_EQ(checkpoint_path("a", 1234567890), "a/step-1234567890.h5");
}

TEST(CheckpointDirectory, WithoutCheckpointsOrAtAllGivesNothing) {
  const TemporaryDirectory directory;
  Skipped skipped;
  EXPECT_FALSE(find(directory.path(), skipped));
  EXPECT_FALSE(find(directory / "absent", skipped));
  write_text(directory / "notes.txt", "x");
  write_text(directory / "step-12x.h5", "x");
  write_text(directory / "step-.h5", "x");
  write_text(directory / "step-00000012.h5.partial", "x");
  EXPECT_FALSE(find(directory.path(), skipped));
  EXPECT_TRUE(skipped.empty());
}

TEST(CheckpointDirectory, HighestStepWinsByNumberNotByName) {
  const TemporaryDirectory directory;
  write(directory.path(), 99999999);
  write(directory.path(), 100000000);  // sorts before the other as text
  Skipped skipped;
  const auto found = find(directory.path(), skipped);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, checkpoint_path(directory.path(), 100000000));
  EXPECT_EQ(decode_checkpoint(found->bytes, found->path).state.step, 100000000);
}

TEST(CheckpointDirectory, DamagedOnesAreSkippedWithTheirReasonsAndTheNextIsTaken) {
  const TemporaryDirectory directory;
  for (const std::int64_t step : {10, 20, 30, 40}) write(directory.path(), step);
  fs::resize_file(checkpoint_path(directory.path(), 40), 1000);
  {
    std::fstream file(checkpoint_path(directory.path(), 30), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1500);
    file.put('\x7f');
  }
  fs::create_directory(checkpoint_path(directory.path(), 50));
  Skipped skipped;
  const auto found = find(directory.path(), skipped);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, checkpoint_path(directory.path(), 20));
  ASSERT_EQ(skipped.size(), 3u);
  EXPECT_EQ(skipped[0].first, checkpoint_path(directory.path(), 50));
  EXPECT_NE(skipped[0].second.find("not a file"), std::string::npos) << skipped[0].second;
  EXPECT_EQ(skipped[1].first, checkpoint_path(directory.path(), 40));
  EXPECT_NE(skipped[1].second.find("truncated"), std::string::npos) << skipped[1].second;
  EXPECT_EQ(skipped[2].first, checkpoint_path(directory.path(), 30));
  EXPECT_NE(skipped[2].second.find("hash"), std::string::npos) << skipped[2].second;
}

void write_best(const std::string& directory, std::int64_t step) {
  write_file_atomically(best_checkpoint_path(directory), encode_checkpoint(make_checkpoint(step)));
}

TEST(CheckpointDirectory, TheBestCountsByItsStep) {
  const TemporaryDirectory directory;
  const std::string best = best_checkpoint_path(directory.path());
  Skipped skipped;
  write_best(directory.path(), 20);
  EXPECT_EQ(find(directory.path(), skipped).value().path, best) << "alone";
  write(directory.path(), 10);
  EXPECT_EQ(find(directory.path(), skipped).value().path, best) << "newer than the newest";
  write(directory.path(), 20);
  EXPECT_EQ(find(directory.path(), skipped).value().path, checkpoint_path(directory.path(), 20)) << "as new";
  write(directory.path(), 30);
  EXPECT_EQ(find(directory.path(), skipped).value().path, checkpoint_path(directory.path(), 30)) << "older";
  EXPECT_TRUE(skipped.empty());
}

TEST(CheckpointDirectory, TheBestIsTakenWhereAllOthersAreDamaged) {
  const TemporaryDirectory directory;
  write_best(directory.path(), 10);
  write_text(checkpoint_path(directory.path(), 20), "damaged");
  Skipped skipped;
  EXPECT_EQ(find(directory.path(), skipped).value().path, best_checkpoint_path(directory.path()));
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped[0].first, checkpoint_path(directory.path(), 20));
}

TEST(CheckpointDirectory, ADamagedBestIsSkippedWithItsReason) {
  const TemporaryDirectory directory;
  write_text(directory / "best.h5", "damaged");
  Skipped skipped;
  EXPECT_FALSE(find(directory.path(), skipped));
  ASSERT_EQ(skipped.size(), 1u) << "it is there: nothing is begun anew over it";
  EXPECT_EQ(skipped[0].first, best_checkpoint_path(directory.path()));
  EXPECT_NE(skipped[0].second.find("too short"), std::string::npos) << skipped[0].second;
}

TEST(CheckpointDirectory, KeepsTheNewestAndRemovesWhatKilledRunsLeft) {
  const TemporaryDirectory directory;
  for (int step = 5; step >= 1; --step) write(directory.path(), step);  // the order of their times does not matter
  write_text(directory / "step-00000006.h5.partial", "x");
  write_text(directory / "mine.partial", "x");
  write_text(directory / "best.h5", "x");
  CheckpointKeeper(directory.path(), 2).remove_old(5);
  for (int step = 1; step <= 5; ++step)
    EXPECT_EQ(fs::exists(checkpoint_path(directory.path(), step)), step > 3) << step;
  EXPECT_FALSE(fs::exists(directory / "step-00000006.h5.partial"));
  EXPECT_TRUE(fs::exists(directory / "mine.partial"));
  EXPECT_TRUE(fs::exists(directory / "best.h5"));
  CheckpointKeeper(directory.path(), 0).remove_old(4);
  EXPECT_EQ(directory.num_files(), 4u);
  CheckpointKeeper(directory / "absent", 1).remove_old(5);
}

TEST(CheckpointDirectory, OnesAboveTheRunsStepStayAndTakeNoPlace) {
  const TemporaryDirectory directory;
  for (const int step : {80, 100, 120}) write(directory.path(), step);
  write_text(checkpoint_path(directory.path(), 200), "damaged");  // the last written, and the highest step
  CheckpointKeeper(directory.path(), 2).remove_old(120);          // the run was resumed at 100
  EXPECT_TRUE(fs::exists(checkpoint_path(directory.path(), 120)));
  EXPECT_TRUE(fs::exists(checkpoint_path(directory.path(), 100)));
  EXPECT_FALSE(fs::exists(checkpoint_path(directory.path(), 80)));
  EXPECT_EQ(directory.num_files(), 3u);
}

TEST(CheckpointDirectory, TheStepInsideCountsNotTheName) {
  const TemporaryDirectory directory;
  write(directory.path(), 87);
  fs::copy_file(checkpoint_path(directory.path(), 87), checkpoint_path(directory.path(), 99999999));
  Skipped skipped;
  EXPECT_EQ(find(directory.path(), skipped).value().path, checkpoint_path(directory.path(), 87));
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped[0].first, checkpoint_path(directory.path(), 99999999));
  EXPECT_NE(skipped[0].second.find("it holds step 87, not the step in its name"), std::string::npos)
      << skipped[0].second;
  fs::remove(checkpoint_path(directory.path(), 87));
  EXPECT_FALSE(find(directory.path(), skipped)) << "a wrong name is no checkpoint, not even where it is the only one";
}

TEST(CheckpointDirectory, AHugeNewestOneIsSkippedAtOnce) {
  const TemporaryDirectory directory;
  write(directory.path(), 10);
  write_text(checkpoint_path(directory.path(), 20), "");
  fs::resize_file(checkpoint_path(directory.path(), 20), std::uintmax_t{1} << 43);  // sparse: more than any memory
  Skipped skipped;
  EXPECT_EQ(find(directory.path(), skipped).value().path, checkpoint_path(directory.path(), 10));
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_NE(skipped[0].second.find("not a checkpoint"), std::string::npos) << skipped[0].second;
}

TEST(CheckpointDirectory, OneBelowAStepIsFound) {
  const TemporaryDirectory directory;
  for (const int step : {10, 20, 30}) write(directory.path(), step);
  const auto below = [&](std::int64_t step) {
    const auto found = find_newest_checkpoint(
        directory.path(), [](const auto&, const auto&) {}, step);
    return found ? found->state.step : -1;
  };
  EXPECT_EQ(below(31), 30);
  EXPECT_EQ(below(30), 20);
  EXPECT_EQ(below(10), -1);
  write_best(directory.path(), 25);
  EXPECT_EQ(below(30), 25);
  EXPECT_EQ(below(25), 20);
}

TEST(CheckpointKeeper, WhatCannotBeUsedTakesNoPlaceOfAGoodOne) {
  const TemporaryDirectory directory;
  for (const int step : {60, 70, 80, 100}) write(directory.path(), step);
  fs::copy_file(checkpoint_path(directory.path(), 80), checkpoint_path(directory.path(), 90));  // another step's name
  write_text(checkpoint_path(directory.path(), 95), "damaged");
  CheckpointKeeper keeper(directory.path(), 3);
  keeper.trust(checkpoint_path(directory.path(), 100));
  for (int saves = 0; saves < 2; ++saves) {
    keeper.remove_old(100);
    for (const int step : {70, 80, 90, 95, 100})
      EXPECT_TRUE(fs::exists(checkpoint_path(directory.path(), step))) << step;
    EXPECT_FALSE(fs::exists(checkpoint_path(directory.path(), 60)));
  }
}

TEST(CheckpointKeeper, TheNewestBelowAStepIsKeptInAddition) {
  const TemporaryDirectory directory;
  for (const int step : {10, 20, 30, 40, 50}) write(directory.path(), step);
  CheckpointKeeper keeper(directory.path(), 2);
  const auto steps = [&] {
    std::vector<int> left;
    for (const int step : {10, 20, 30, 40, 50, 60})
      if (fs::exists(checkpoint_path(directory.path(), step))) left.push_back(step);
    return left;
  };
  keeper.remove_old(50, 25);
  EXPECT_EQ(steps(), (std::vector<int>{20, 40, 50}));
  write(directory.path(), 60);
  keeper.remove_old(60, 25);
  EXPECT_EQ(steps(), (std::vector<int>{20, 50, 60})) << "as long as it is asked for";
  keeper.remove_old(60);
  EXPECT_EQ(steps(), (std::vector<int>{50, 60}));
}

TEST(CheckpointDirectory, TheOneJustWrittenIsKeptWhateverTheClocksSay) {
  const TemporaryDirectory directory;
  for (const int step : {100, 120}) write(directory.path(), step);
  const auto later = fs::last_write_time(checkpoint_path(directory.path(), 120)) + std::chrono::hours(1);
  fs::last_write_time(checkpoint_path(directory.path(), 100), later);  // by a machine whose clock is fast
  CheckpointKeeper(directory.path(), 1).remove_old(120);
  EXPECT_TRUE(fs::exists(checkpoint_path(directory.path(), 120)));
  EXPECT_EQ(directory.num_files(), 1u);
}

}  // namespace
}  // namespace convoy::io
