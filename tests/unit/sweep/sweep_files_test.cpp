/// Tests that a sweep finds its results again, and that a row which ended the program is not tried forever.
#include "sweep/sweep_files.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"
#include "convoy/params/parameters.h"

#include "unit/messages.h"

namespace convoy {
namespace {

using testing::HasSubstr;

class SweepFilesTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string directory_ =
      (std::filesystem::temp_directory_path() / ("convoy-sweep-" + std::to_string(getpid()))).string();
};

RowMeasurement measurement(double seconds) {
  return {
      .stages = 2,
      .replicas = 3,
      .batch_global = 64,
      .batch_micro = 8,
      .num_samples = 640,
      .num_parameters = 12,
      .output_bytes = 40,
      .step_seconds = seconds,
      .predicted_seconds = 0.1,
      .shares = TimeShares{.busy = 0.5, .bubble = 0.25, .straggler = 0.125, .communication = 0.0625, .data = 0.0625},
      .busy_of_ranks = {0.25, 0.75},
      .memory_bytes_of_ranks = {1000, 2000}};
}

TEST_F(SweepFilesTest, AMeasuredRowIsReadBackAndNotWantedAgain) {
  const double third = 1.0 / 3;
  {
    SweepFiles files(directory_, {});
    EXPECT_TRUE(files.wants(1, 1));
    files.begin(1, 1);
    files.end(1, 1, measurement(third));
  }
  SweepFiles files(directory_, {});
  EXPECT_FALSE(files.wants(1, 1));
  EXPECT_TRUE(files.wants(1, 2));
  EXPECT_TRUE(files.wants(2, 1));
  const auto rounds = files.read(1, 3);
  ASSERT_EQ(rounds.size(), 1u);
  EXPECT_EQ(rounds[0].step_seconds, third);
  EXPECT_EQ(rounds[0].predicted_seconds, 0.1);
  EXPECT_EQ(rounds[0].stages, 2);
  EXPECT_EQ(rounds[0].replicas, 3);
  EXPECT_EQ(rounds[0].shares->straggler, 0.125);
  EXPECT_EQ(rounds[0].batch_global, 64);
  EXPECT_EQ(rounds[0].batch_micro, 8);
  EXPECT_EQ(rounds[0].num_samples, 640);
  EXPECT_EQ(rounds[0].output_bytes, 40);
  EXPECT_THAT(rounds[0].busy_of_ranks, testing::ElementsAre(0.25, 0.75));
  EXPECT_THAT(rounds[0].memory_bytes_of_ranks, testing::ElementsAre(1000, 2000));
  EXPECT_EQ(rounds[0].num_parameters, 12);
}

TEST_F(SweepFilesTest, ARowThatEndedTheProgramTwiceHasFailed) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    SweepFiles files(directory_, {});
    EXPECT_TRUE(files.wants(3, 1));
    files.begin(3, 1);
  }
  SweepFiles files(directory_, {});
  EXPECT_FALSE(files.wants(3, 1));
  const RowResult result = summarise(files.read(3, 1));
  EXPECT_EQ(result.num_rounds, 0);
  EXPECT_THAT(result.failure, HasSubstr("ended while it measured this row, 2 times"));
}

TEST_F(SweepFilesTest, ARowThatFailedIsNotTriedInOtherRounds) {
  SweepFiles files(directory_, {});
  files.begin(2, 1);
  files.end(2, 1, {.failure = "no"});
  EXPECT_FALSE(files.wants(2, 2));
  EXPECT_TRUE(files.wants(1, 2));
  EXPECT_EQ(files.num_results(), 1);
}

// Files have a name of their process until they are complete, so that two jobs of an array never write to the same
// file.
TEST_F(SweepFilesTest, SharedFilesLeaveNothingBeside) {
  SweepFiles files(directory_, {});
  write_shared_text(directory_ + "/sweep.csv", "one");
  write_shared_text(directory_ + "/sweep.csv", "two");
  EXPECT_EQ(io::read_text(directory_ + "/sweep.csv").value(), "two");
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"sweep.cfg", "sweep.csv"}));
}

TEST_F(SweepFilesTest, ARowWhoseSweepWasAskedToStopIsNotAtFault) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    SweepFiles files(directory_, {});
    EXPECT_TRUE(files.wants(1, 1));
    files.begin(1, 1);
    files.abandon(1, 1);
  }
}

TEST_F(SweepFilesTest, OtherParametersAreRefusedButMoreRoundsAreNot) {
  Parameters params;
  const SweepFiles first(directory_, params);
  params.sweep.rounds = 7;
  params.sweep.row = 2;
  EXPECT_NO_THROW(SweepFiles(directory_, params));
  params.batch.micro = 16;
  EXPECT_THAT(test::message_of<RequestError>([&] { SweepFiles(directory_, params); }),
              HasSubstr("holds the rows of another sweep"));
}

TEST_F(SweepFilesTest, OtherRanksAreRefusedWhereTheyAreNotListed) {
  Parameters params;
  const SweepFiles first(directory_, params, 2);
  EXPECT_THAT(test::message_of<RequestError>([&] { SweepFiles(directory_, params, 4); }),
              HasSubstr("holds the rows of another sweep"));
  params.sweep.ranks = {2};  // the same rows
  EXPECT_NO_THROW(SweepFiles(directory_, params, 4));
}

TEST_F(SweepFilesTest, ADamagedFileIsNamed) {
  SweepFiles files(directory_, {});
  files.begin(1, 1);
  files.end(1, 1, measurement(1));
  const std::string path = files.folder_of(1) + "/round-1.json";
  io::write_text_atomically(path, "{\"stages\": 2");
  EXPECT_THAT(test::message_of<Error>([&] { files.read(1, 1); }), HasSubstr(path));
}

TEST(RowResult, IsTheMedianRoundWithTheMostMemoryOfEachRank) {
  std::vector<RowMeasurement> rounds = {measurement(3), measurement(1), measurement(2), measurement(9)};
  rounds[3].memory_bytes_of_ranks = {10, 1500};
  rounds[0].memory_bytes_of_ranks = {900, 9000};
  const RowResult result = summarise(rounds);
  EXPECT_EQ(result.num_rounds, 4);
  EXPECT_EQ(result.median.step_seconds, 2.5);  // the median of 1, 2, 3, 9
  EXPECT_EQ(result.min_step_seconds, 1);
  EXPECT_EQ(result.max_step_seconds, 9);
  EXPECT_THAT(result.median.memory_bytes_of_ranks, testing::ElementsAre(1000, 9000));
  EXPECT_EQ(result.median.max_memory_bytes(), 9000);
  EXPECT_EQ(summarise({}).num_rounds, 0);
  EXPECT_EQ(summarise({measurement(1), {.failure = "no"}}).failure, "no");
}

}  // namespace
}  // namespace convoy
