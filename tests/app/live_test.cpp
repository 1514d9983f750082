/// A run can be followed while it trains: its rows appear within seconds, a slow rank is named, and convoy watch shows
/// the truth.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "convoy/base/clock.h"

#include "app/restart.h"
#include "unit/messages.h"

namespace convoy::test {

namespace {

using std::chrono::milliseconds;

void wait_up_to(int seconds, const std::function<bool()>& done) {
  for (int tenth = 0; tenth < 10 * seconds && !done(); ++tenth) std::this_thread::sleep_for(milliseconds(100));
}

std::vector<nlohmann::json> rows_of(const std::string& log, const std::string& kind) {
  std::vector<nlohmann::json> rows;
  std::istringstream lines(read_text(log));
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (row.is_object() && row["kind"] == kind) rows.push_back(row);
  }
  return rows;
}

class Live : public Restart {
 protected:
  std::string log() const { return run_ + "/log.jsonl"; }

  ProcessResult watch() const {
    return run_program({.arguments = {"watch", run_, "--watch.once=true"}, .timeout_seconds = 20});
  }

  /// Runs an endless training and `while_it_runs`, which begins when its first rows exist; then sends a stop signal.
  ProcessResult train_and(const std::function<void()>& while_it_runs, const std::vector<std::string>& more, int ranks) {
    std::thread other([&] {
      wait_up_to(60, [this] { return !rows_of(log(), "step").empty(); });
      while_it_runs();
      EXPECT_GE(signal_ranks(run_, SIGUSR1, 1), 1);
    });
    ProcessResult result =
        run_program({.arguments = arguments_ +
                                  std::vector<std::string>{"--train.epochs=100000", "--train.evaluate_every_epochs=0",
                                                           "--checkpoint.every_epochs=0", "--run.rank_seconds=1",
                                                           "--run.directory=" + run_} +
                                  more,
                     .ranks = ranks});
    other.join();
    return result;
  }
};

}  // namespace

TEST_F(Live, RowsOfAllRanksAreThereWithinFiveSecondsAndNobodyIsCalledSlow) {
  const auto look = [this] {
    wait_up_to(20, [this] { return rows_of(log(), "rank").size() >= 4; });
    for (int second = 0; second < 8; ++second) {
      std::this_thread::sleep_for(milliseconds(1000));
      EXPECT_LE(wall_clock_seconds() - rows_of(log(), "step").back()["time"].get<double>(), 5);
      EXPECT_LE(wall_clock_seconds() - rows_of(log(), "rank").back()["time"].get<double>(), 5);
    }
    const ProcessResult watched = watch();
    EXPECT_EQ(watched.status, 0);
    EXPECT_CONTAINS(watched.output, run_ + ": is running; last row written ");
    EXPECT_CONTAINS(watched.output, "2 stages x 2 replicas");
    EXPECT_CONTAINS(watched.output, "\n   3 ");
  };
  const ProcessResult result = train_and(look, {"--grid.stages=2"}, 4);
  EXPECT_EQ(result.status, 75) << result.output;
  EXPECT_FALSE(contains(result.output, " is slow")) << result.output;
  EXPECT_CONTAINS(watch().output, run_ + ": has ended: stopped on request");
  for (const nlohmann::json& row : rows_of(log(), "rank")) {
    double sum = 0;
    for (const char* share : {"busy", "bubble", "straggler", "communication", "data"}) {
      EXPECT_GE(row[share].get<double>(), 0) << row;
      sum += row[share].get<double>();
    }
    EXPECT_NEAR(sum, 1, 1e-9) << row;
    EXPECT_GT(row["resident_bytes"].get<double>(), 1e6);
  }
}

TEST_F(Live, ARankThatIsStoppedAgainAndAgainIsNamedWhenItHappensAndAtTheEnd) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "two ranks share the only core: the slower one is not named";
  const auto slow_down = [this] {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < until && rows_of(log(), "warning").empty()) {
      signal_ranks(run_, SIGSTOP, 1);
      std::this_thread::sleep_for(milliseconds(150));
      signal_ranks(run_, SIGCONT, 1);
      std::this_thread::sleep_for(milliseconds(100));
    }
    EXPECT_CONTAINS(watch().output, "is slow: its part of a step takes");
  };
  const ProcessResult result = train_and(slow_down, {"--grid.stages=1"}, 2);
  EXPECT_EQ(result.status, 75) << result.output;
  const std::size_t first = result.output.find("is slow: its part of a step takes");
  ASSERT_NE(first, std::string::npos) << result.output;
  EXPECT_NE(result.output.find("is slow: its part of a step takes", first + 1), std::string::npos)
      << "the summary names it again\n"
      << result.output;
}

TEST_F(Live, RowsAfterTheCheckpointGoWhenTheRunIsResumed) {
  ASSERT_EQ(train(12).status, 0);
  ASSERT_EQ(train(20).status, 0);
  std::filesystem::remove(checkpoint(20));
  std::filesystem::remove(run_ + "/checkpoints/best.h5");  // it may be of step 20, too
  ASSERT_EQ(train(16).status, 0);
  const std::vector<nlohmann::json> steps = rows_of(log(), "step");
  ASSERT_EQ(steps.size(), 16U);
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i]["step"], i + 1);
  EXPECT_EQ(rows_of(log(), "start").size(), 3U);
  EXPECT_EQ(rows_of(log(), "end").back()["how"], "done");
}

TEST_F(Live, WatchRefusesWhatIsNoRun) {
  EXPECT_EQ(run_program({.arguments = {"watch", directory_ / "nothing"}}).status, 2);
  const ProcessResult empty = run_program({.arguments = {"watch", directory_ / "small"}});
  EXPECT_EQ(empty.status, 2);
  EXPECT_CONTAINS(empty.output, "holds no run that has started");
  EXPECT_EQ(run_program({.arguments = {"watch"}}).status, 2);
}

TEST_F(Live, WatchSaysThatARunWasKilled) {
  std::thread killer([&] {
    wait_up_to(60, [this] { return !rows_of(log(), "step").empty(); });
    signal_ranks(run_, SIGKILL, 1);
  });
  run_program({.arguments = arguments_ + std::vector<std::string>{"--train.epochs=100000", "--run.directory=" + run_}});
  killer.join();
  EXPECT_CONTAINS(watch().output, "is not running any more");
}

}  // namespace convoy::test
