/// Tests the reading of a log that grows, and of one that a restart has replaced.
#include "dashboard/run_reader.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace convoy {

namespace {

class RunReaderTest : public testing::Test {
 protected:
  RunReaderTest() : directory_(std::filesystem::temp_directory_path() / fmt::format("convoy-watched-{}", getpid())) {
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void append(const std::string& text) const { std::ofstream(directory_ / "log.jsonl", std::ios::app) << text; }

  std::filesystem::path directory_;
};

std::string step_row(int step) {
  return fmt::format("{{\"kind\":\"step\",\"time\":{0},\"step\":{0},\"loss\":0.5,\"top1\":0.25,\"seconds\":0.1}}\n",
                     step);
}

}  // namespace

TEST_F(RunReaderTest, TakesWholeLinesAsTheyCome) {
  RunReader reader(directory_.string());
  EXPECT_FALSE(reader.update()) << "there is none yet";
  append("{\"kind\":\"start\",\"time\":1,\"step\":0,\"version\":\"0.9.0\",\"total_steps\":20,\"stages\":2}\n" +
         step_row(1) + step_row(2).substr(0, 20));
  ASSERT_TRUE(reader.update());
  EXPECT_TRUE(reader.run().has_started);
  EXPECT_EQ(reader.run().total_steps, 20);
  EXPECT_EQ(reader.run().step, 1);
  append(step_row(2).substr(20));
  ASSERT_TRUE(reader.update());
  EXPECT_EQ(reader.run().step, 2);
  EXPECT_EQ(reader.run().losses.size(), 2U);
  EXPECT_EQ(reader.run().last_time, 2);
}

TEST_F(RunReaderTest, ForgetsStepsThatWereUndoneByARollback) {
  append("{\"kind\":\"start\",\"time\":1,\"step\":4}\n" + step_row(5) + step_row(6) + step_row(7) +
         "{\"kind\":\"rollback\",\"time\":8,\"step\":5,\"rate_factor\":0.5}\n");
  RunReader reader(directory_.string());
  ASSERT_TRUE(reader.update());
  EXPECT_EQ(reader.run().step, 5);
  EXPECT_EQ(reader.run().losses.size(), 1U);
  append(step_row(6));
  ASSERT_TRUE(reader.update());
  EXPECT_EQ(reader.run().step, 6);
  EXPECT_EQ(reader.run().step_times.size(), 2U);
}

TEST_F(RunReaderTest, ForgetsEvaluationsAfterTheStepOfARollback) {
  WatchedRun run;
  for (const int step : {4, 8, 12})
    add_row(fmt::format(R"({{"kind":"epoch","time":1,"step":{},"val_top1":0.5}})", step), run);
  add_row(R"({"kind":"rollback","time":2,"step":8,"rate_factor":0.5})", run);
  EXPECT_EQ(run.evaluated.at("val_top1"), (std::map<std::int64_t, double>{{4, 0.5}, {8, 0.5}}));
  add_row(R"({"kind":"epoch","time":3,"step":12,"val_top1":0.75})", run);
  EXPECT_EQ(run.evaluated.at("val_top1"), (std::map<std::int64_t, double>{{4, 0.5}, {8, 0.5}, {12, 0.75}}));
}

TEST_F(RunReaderTest, BeginsAgainWhereTheFileIsAnotherOne) {
  append("{\"kind\":\"start\",\"time\":1,\"step\":0}\n" + step_row(1) + step_row(2));
  RunReader reader(directory_.string());
  ASSERT_TRUE(reader.update());
  std::ofstream(directory_ / "new") << "{\"kind\":\"start\",\"time\":1,\"step\":0}\n" + step_row(1);
  std::filesystem::rename(directory_ / "new", directory_ / "log.jsonl");
  ASSERT_TRUE(reader.update());
  EXPECT_EQ(reader.run().losses.size(), 1U);
}

TEST_F(RunReaderTest, KnowsRanksEpochsWarningsAndTheEnd) {
  WatchedRun run;
  add_row(R"({"kind":"rank","time":1,"step":4,"rank":3,"host":"node07","replica":1,"stage":1,"step_seconds":0.5,)"
          R"("busy":0.75,"resident_bytes":1000,"gpu_celsius":null})",
          run);
  add_row(R"({"kind":"epoch","time":1,"step":4,"samples":64,"train_loss":1,"test_loss":0.5,"test_top1":0.75})", run);
  for (const char* text : {"a", "b", "c", "d"})
    add_row(fmt::format(R"({{"kind":"warning","time":5,"step":4,"text":"{}"}})", text), run);
  add_row(R"({"kind":"end","time":6,"step":4,"how":"done"})", run);
  EXPECT_EQ(run.ranks.at(3).host, "node07");
  EXPECT_EQ(run.ranks.at(3).busy, 0.75);
  EXPECT_EQ(run.ranks.at(3).gpu_celsius, -1);
  EXPECT_EQ(run.measured, "test");
  EXPECT_EQ(run.measured_column(), "test_top1") << "a log without train.metric is older than that key";
  EXPECT_EQ(run.evaluated, (std::map<std::string, std::map<std::int64_t, double>>{{"test_loss", {{4, 0.5}}},
                                                                                  {"test_top1", {{4, 0.75}}}}));
  EXPECT_EQ(run.warnings.front().text, "b");
  EXPECT_EQ(run.ended, "done");
}

TEST_F(RunReaderTest, KnowsTheMetricOfTheLatestStart) {
  WatchedRun run;
  add_row(R"({"kind":"start","time":1,"step":0})", run);
  add_row(R"({"kind":"epoch","time":2,"step":4,"val_top1":0.75,"val_macro_f1":0.5})", run);
  add_row(R"({"kind":"start","time":3,"step":4,"metric":"macro_f1"})", run);
  add_row(R"({"kind":"epoch","time":4,"step":8,"val_top1":0.5,"val_macro_f1":0.625})", run);
  EXPECT_EQ(run.measured_column(), "val_macro_f1");
  EXPECT_EQ(run.evaluated.at(run.measured_column()), (std::map<std::int64_t, double>{{4, 0.5}, {8, 0.625}}));
}

TEST_F(RunReaderTest, LinesThatAreNoRowsChangeNothing) {
  WatchedRun run;
  for (const char* line :
       {"", "x", "[]", "{}", "{\"kind\":7}", "{\"kind\":\"later\",\"time\":9}", "{\"kind\":\"step\""})
    add_row(line, run);
  EXPECT_EQ(run.last_time, 0);
  EXPECT_EQ(run.step, 0);
}

}  // namespace convoy
