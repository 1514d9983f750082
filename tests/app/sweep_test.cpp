/// convoy sweep: a table on the ranks of one job, stopped and continued, row by row or all at once.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "app/runs.h"
#include "app/small_data.h"

namespace convoy::test {

namespace {

class SweepRun : public Runs {
 protected:
  ProcessResult sweep(const std::string& name, const std::vector<std::string>& more, int ranks = 2) {
    std::vector<std::string> arguments = arguments_;
    arguments.front() = "sweep";
    return run_program(
        {.arguments = arguments + std::vector<std::string>{"--run.directory=" + (directory_ / name)} + more,
         .ranks = ranks});
  }

  /// Returns the table by row, each with its columns by name.
  std::map<int, std::map<std::string, std::string>> table(const std::string& name) const {
    std::map<int, std::map<std::string, std::string>> rows;
    std::istringstream lines(read_text((directory_ / name) + "/sweep.csv"));
    std::string line;
    std::getline(lines, line);
    const std::vector<std::string> columns = cells_of(line);
    while (std::getline(lines, line)) {
      const std::vector<std::string> cells = cells_of(line);
      auto& row = rows[std::stoi(cells.front())];
      for (std::size_t i = 0; i < columns.size() && i < cells.size(); ++i) row[columns[i]] = cells[i];
    }
    return rows;
  }

 private:
  static std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream rest(line);
    for (std::string cell; std::getline(rest, cell, ',');) cells.push_back(cell);
    return cells;
  }
};

const std::vector<std::string> kShort = {"--sweep.steps=2", "--sweep.warm_steps=1", "--sweep.rounds=2"};

}  // namespace

TEST_F(SweepRun, MeasuresEachRowOnItsRanksAndLeavesOutWhatCannotBe) {
  const ProcessResult result = sweep(
      "table", kShort + std::vector<std::string>{"--sweep.replicas=1,2", "--sweep.stages=1,2", "--sweep.micro=8,16"});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(
      contains(result.output, "row 7: replicas 2, stages 2, micro 8; 4 ranks; skipped: needs 4 ranks; this job has 2"))
      << result.output;
  auto rows = table("table");
  ASSERT_EQ(rows.size(), 8u);
  for (int row = 1; row <= 6; ++row) {
    EXPECT_EQ(rows[row]["rounds"], "2") << row << "\n" << result.output;
    const double step = std::stod(rows[row]["step_seconds"]), predicted = std::stod(rows[row]["predicted_seconds"]);
    EXPECT_NEAR(std::stod(rows[row]["samples_per_second"]), 64 / step, 64 / step * 1e-4) << row;
    EXPECT_GT(predicted, 0) << row;
    EXPECT_LE(std::stod(rows[row]["step_seconds_min"]), step) << row;
    EXPECT_GE(std::stod(rows[row]["step_seconds_max"]), step) << row;
    // Shares of the ranks' time, rounded to 1e-4.
    double shares = 0;
    for (const char* share : {"busy", "bubble", "straggler", "communication", "data"})
      shares += std::stod(rows[row][share]);
    EXPECT_NEAR(shares, 1, 5 * 0.5e-4 + 1e-9) << row;
    EXPECT_LE(std::stoll(rows[row]["memory_min_bytes"]), std::stoll(rows[row]["memory_max_bytes"])) << row;
    std::istringstream busy(rows[row]["busy_of_ranks"]);
    double sum = 0;
    int ranks = 0;
    for (double share = 0; busy >> share; ++ranks) sum += share;
    EXPECT_EQ(ranks, std::stoi(rows[row]["ranks"])) << row;
    EXPECT_GT(sum, 0) << row;
    EXPECT_LE(sum, ranks) << row;
    EXPECT_GT(std::stoll(rows[row]["memory_min_bytes"]), 1 << 20) << row;
  }
  EXPECT_EQ(rows[1]["ranks"], "1");
  EXPECT_EQ(rows[3]["grid_stages"], "2");
  EXPECT_EQ(rows[5]["grid_replicas"], "2");
  EXPECT_EQ(rows[1]["bubble"], "0.0000");  // a single rank waits for no other
  EXPECT_EQ(rows[8]["rounds"], "");
  EXPECT_EQ(rows[8]["reason"], "needs 4 ranks; this job has 2");
  EXPECT_TRUE(contains(read_text((directory_ / "table") + "/sweep.md"),
                       "| row | replicas | stages | micro | batch | images/s |"));
  EXPECT_TRUE(contains(read_text((directory_ / "table") + "/sweep.svg"), "<circle"));
}

TEST_F(SweepRun, TheLargestMicroBatchThatFitsIsFoundAndMeasured) {
  const ProcessResult result =
      sweep("largest", {"--sweep.stages=1,2", "--sweep.micro=16,max", "--memory.limit_gib=0.02", "--sweep.steps=1",
                        "--sweep.warm_steps=1", "--sweep.rounds=1", "--sweep.replicas=1"});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "sweep.micro = max: batch.micro = ")) << result.output;
  auto rows = table("largest");
  EXPECT_EQ(rows[1]["batch_micro"], "16");
  const int of_one = std::stoi(rows[2]["batch_micro"]), of_two = std::stoi(rows[4]["batch_micro"]);
  EXPECT_GT(of_one, 16) << result.output;
  EXPECT_GT(of_two, 16) << result.output;
  EXPECT_EQ(std::stoi(rows[4]["batch_global"]), 8 * of_two) << "as many micro-batches as without max";
}

TEST_F(SweepRun, ContinuesWhereItWasStopped) {
  const std::vector<std::string> rows = {"--sweep.stages=1", "--sweep.micro=8,16", "--sweep.warm_steps=1",
                                         "--sweep.rounds=1"};
  const std::string name = directory_ / "stopped";
  std::thread stopper([&] {
    for (int tenth = 0; tenth < 600 && !std::filesystem::exists(name + "/rows/0001/round-1.started"); ++tenth)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(signal_ranks(name, SIGUSR1, 1), 1);
  });
  const ProcessResult stopped = sweep("stopped", rows + std::vector<std::string>{"--sweep.steps=100000"}, 1);
  stopper.join();
  EXPECT_EQ(stopped.status, 75) << stopped.output;
  EXPECT_TRUE(contains(stopped.output, "stopped; the same command continues")) << stopped.output;
  EXPECT_FALSE(std::filesystem::exists(name + "/rows/0001/round-1.started"));
  EXPECT_FALSE(std::filesystem::exists(name + "/rows/0001/round-1.json"));
  // Another table does not continue it.
  const ProcessResult other = sweep("stopped", rows + std::vector<std::string>{"--sweep.steps=3"}, 1);
  EXPECT_EQ(other.status, 2) << other.output;
  EXPECT_TRUE(contains(other.output, "holds the rows of another sweep")) << other.output;
}

// In the way of jobs of an array.
TEST_F(SweepRun, RowsMeasuredOneByOneMakeOneTable) {
  const std::vector<std::string> rows = kShort + std::vector<std::string>{"--sweep.stages=1,2", "--sweep.micro=8"};
  ASSERT_EQ(sweep("rows", rows + std::vector<std::string>{"--sweep.row=2"}).status, 0);
  EXPECT_EQ(table("rows")[1]["rounds"], "");
  EXPECT_EQ(table("rows")[2]["rounds"], "2");
  ASSERT_EQ(sweep("rows", rows + std::vector<std::string>{"--sweep.row=1"}).status, 0);
  EXPECT_EQ(table("rows")[1]["rounds"], "2");
  const std::string step = table("rows")[2]["step_seconds"];
  const ProcessResult again = sweep("rows", rows);
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_FALSE(contains(again.output, "round 1 of 2, row")) << "nothing is measured twice\n" << again.output;
  EXPECT_EQ(table("rows")[2]["step_seconds"], step);
  const ProcessResult none = sweep("rows", rows + std::vector<std::string>{"--sweep.row=3"});
  EXPECT_EQ(none.status, 2) << none.output;
  EXPECT_TRUE(contains(none.output, "sweep.row = 3: this sweep has 2 rows")) << none.output;
}

TEST_F(SweepRun, ARowThatFailsIsARowWithItsReason) {
  const ProcessResult result =
      sweep("failing", kShort + std::vector<std::string>{"--sweep.stages=1", "--sweep.precision=f32, fp16"}, 1);
  ASSERT_EQ(result.status, 0) << result.output;
  auto rows = table("failing");
  EXPECT_EQ(rows[1]["rounds"], "2");
  EXPECT_EQ(rows[2]["rounds"], "");
  EXPECT_TRUE(contains(rows[2]["reason"], "train.precision = fp16 needs a GPU")) << rows[2]["reason"];
}

// A rank that is killed ends the job: the row is tried once more, then left out.
TEST_F(SweepRun, ARowThatEndsTheProgramTwiceIsLeftOut) {
  const std::string name = directory_ / "killed";
  const std::vector<std::string> rows = {"--sweep.stages=2", "--sweep.micro=8", "--sweep.warm_steps=1",
                                         "--sweep.rounds=1", "--sweep.steps=100000"};
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::thread killer([&] {
      const std::string started = name + "/rows/0001/round-1.started";
      for (int tenth = 0; tenth < 600; ++tenth) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        if (!std::filesystem::exists(started)) continue;
        const std::string text = read_text(started);
        if (std::count(text.begin(), text.end(), '\n') == attempt + 1) break;
      }
      EXPECT_GE(signal_ranks(name, SIGKILL, 1), 1);
    });
    const ProcessResult killed = sweep("killed", rows);
    killer.join();
    EXPECT_NE(killed.status, 0) << killed.output;
    EXPECT_NE(killed.status, 75) << killed.output;
  }
  const ProcessResult result = sweep("killed", rows);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(table("killed")[1]["reason"], "the program ended while it measured this row"))
      << table("killed")[1]["reason"];
}

// Killed between two rows' results: measured rows stay, and the row that was in progress is measured again.
TEST_F(SweepRun, IsKilledOnceAndContinuesToAFullTable) {
  const std::string name = directory_ / "killed-once", second = name + "/rows/0002/round-1.started";
  const std::vector<std::string> rows = {"--sweep.stages=2", "--sweep.micro=8,16,32", "--sweep.warm_steps=1",
                                         "--sweep.rounds=1", "--sweep.steps=40"};
  std::thread killer([&] {
    for (int hundredth = 0; hundredth < 12000 && !std::filesystem::exists(second); ++hundredth)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_GE(signal_ranks(name, SIGKILL, 1), 1);
  });
  const ProcessResult killed = sweep("killed-once", rows);
  killer.join();
  EXPECT_NE(killed.status, 0) << killed.output;
  ASSERT_TRUE(std::filesystem::exists(second)) << killed.output;
  const std::string step = table("killed-once")[1]["step_seconds"];
  EXPECT_NE(step, "");
  const ProcessResult result = sweep("killed-once", rows);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_FALSE(contains(result.output, "round 1 of 1, row 1 of 3")) << result.output;
  auto measured = table("killed-once");
  EXPECT_EQ(measured[1]["step_seconds"], step);
  for (int row = 1; row <= 3; ++row) EXPECT_EQ(measured[row]["rounds"], "1") << row << "\n" << result.output;
  EXPECT_FALSE(std::filesystem::exists(second));
}

TEST_F(SweepRun, MeasuresPredictions) {
  const ProcessResult result = sweep("predictions", {"--sweep.work=predict", "--sweep.replicas=1,2", "--sweep.stages=1",
                                                     "--sweep.rounds=1", "--sweep.warm_steps=1", "--sweep.steps=1"});
  ASSERT_EQ(result.status, 0) << result.output;
  auto rows = table("predictions");
  for (int row = 1; row <= 2; ++row) {
    EXPECT_GT(std::stod(rows[row]["samples_per_second"]), 0) << row;
    EXPECT_GT(std::stod(rows[row]["predicted_seconds"]), 0) << row;
    EXPECT_EQ(rows[row]["busy"], "") << row;
  }
  // The 96 samples of the test set are two steps of 64.
  const ProcessResult few = sweep("few", {"--sweep.work=predict", "--sweep.stages=1", "--sweep.rounds=1",
                                          "--sweep.warm_steps=2", "--sweep.steps=1"});
  EXPECT_EQ(few.status, 0) << few.output;
  EXPECT_TRUE(contains(table("few")[1]["reason"], "96 samples are only 2 steps of batch.global = 64"))
      << table("few")[1]["reason"];
}

TEST_F(SweepRun, OnlyListsItsRowsWhenAsked) {
  const ProcessResult result = sweep("listed", {"--sweep.list=true", "--sweep.micro=8,16"}, 1);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "row 2: micro 16; 1 rank\n")) << result.output;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "listed"));
}

}  // namespace convoy::test
