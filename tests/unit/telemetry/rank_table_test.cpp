/// ranks.csv, written out.
#include "telemetry/rank_table.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace convoy {

namespace {

constexpr const char* kHeader =
    "step,time,rank,host,replica,stage,steps,step_seconds,busy,bubble,straggler,communication,data,resident_bytes,"
    "device_bytes";
constexpr const char* kGpuColumns = ",gpu_utilisation,gpu_clock_mhz,gpu_celsius,gpu_watts,gpu_ecc_errors";

RankRow row_of(std::int64_t step) {
  return {.time = 7.5,
          .rank = 3,
          .replica = 1,
          .stage = 1,
          .host = "node07",
          .sample = {.step = step, .num_steps = 4, .seconds = 2, .resident_bytes = 1000},
          .shares = TimeShares{.busy = 0.75, .bubble = 0.125, .straggler = 0, .communication = 0.125, .data = 0}};
}

std::string line_of(std::int64_t step) {
  return fmt::format("{},7.500,3,node07,1,1,4,0.5,0.7500,0.1250,0.0000,0.1250,0.0000,1000,0", step);
}

class RankTableTest : public testing::Test {
 protected:
  RankTableTest()
      : path_(fmt::format("{}/convoy-{}-ranks.csv", std::filesystem::temp_directory_path().string(), getpid())) {}
  void TearDown() override { std::filesystem::remove(path_); }

  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string path_;
};

}  // namespace

TEST_F(RankTableTest, HasARowPerRankAndNoColumnsOfGpusWhereNoneIsRead) {
  RankTable table(path_, false, 0);
  table.add({row_of(10), row_of(20)});
  EXPECT_EQ(text(), fmt::format("{}\n{}\n{}\n", kHeader, line_of(10), line_of(20)));
}

TEST_F(RankTableTest, WhatIsNotKnownIsEmpty) {
  RankTable table(path_, true, 0);
  RankRow row = row_of(10);
  row.shares.reset();
  row.sample.gpu = {.utilisation_percent = 98, .temperature_celsius = 65};
  table.add({row});
  EXPECT_EQ(text(), fmt::format("{}{}\n10,7.500,3,node07,1,1,4,0.5,,,,,,1000,0,98,,65,,\n", kHeader, kGpuColumns));
}

TEST_F(RankTableTest, ARestartKeepsRowsUpToItsStepAlsoOnGpus) {
  RankTable(path_, false, 0).add({row_of(10), row_of(20), row_of(19), row_of(30)});
  const RankTable resumed(path_, true, 20);
  EXPECT_EQ(text(), fmt::format("{}{}\n{},,,,,\n{},,,,,\n{},,,,,\n", kHeader, kGpuColumns, line_of(10), line_of(20),
                                line_of(19)))
      << "the ranks of a round may be at different steps";
  const RankTable on_cpu(path_, false, 10);
  EXPECT_EQ(text(), fmt::format("{}{}\n{},,,,,\n", kHeader, kGpuColumns, line_of(10))) << "columns stay";
}

TEST_F(RankTableTest, TheRowOfTheLogSaysTheSame) {
  const auto json = nlohmann::json::parse(json_row(row_of(10), false).line());
  EXPECT_EQ(json["kind"], "rank");
  EXPECT_EQ(json["step"], 10);
  EXPECT_EQ(json["host"], "node07");
  EXPECT_EQ(json["step_seconds"], 0.5);
  EXPECT_EQ(json["busy"], 0.75);
  EXPECT_FALSE(json.contains("gpu_watts"));
}

}  // namespace convoy
