/// Processes that stand still, each in its way, are told apart within seconds.
#include "watch/watchdog.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace convoy {
namespace {

constexpr double kAlarmSeconds = 0.5;
constexpr std::uint64_t kJob = 42;

WatchSpec spec_of(std::int64_t rank) {
  WatchSpec spec{.alarm_seconds = kAlarmSeconds, .rank = rank};
  for (int r = 0; r < 3; ++r) spec.ranks.push_back({.rank = r, .host = "here", .replica = 0, .stage = r});
  spec.say = [](const std::string&) {};
  spec.leave = [](int status) { _exit(status); };
  return spec;
}

/// Ranks 1 and 2 are children; rank 2 waits for rank 1, which computes.
class WatchdogTest : public testing::Test {
 protected:
  void SetUp() override {
    auto link = std::make_unique<RootLink>(3, kJob);
    for (const int rank : {1, 2}) children_.push_back(start_rank(rank, link->addresses()));
    board_.enter(Activity::kTraining);
    board_.begin({.op = Op::kRecvGradient, .micro_batch = 3});
    WatchSpec spec = spec_of(0);
    spec.abort_seconds = abort_seconds_;
    spec.say = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      said_ += text;
    };
    spec.leave = [this](int status) { left_with_ = status; };
    watchdog_ = std::make_unique<Watchdog>(std::move(spec), board_, std::move(link));
  }
  void TearDown() override {
    for (const pid_t child : children_) {
      kill(child, SIGCONT);
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

  static pid_t start_rank(int rank, const std::vector<std::string>& addresses) {
    const pid_t child = fork();
    if (child != 0) return child;
    StatusBoard board;
    board.enter(Activity::kTraining);
    const Packet hello{.rank = rank, .process = getpid(), .job = kJob};
    const Watchdog watchdog(spec_of(rank), board, connect_to_root(addresses, hello), kJob);
    board.begin_step(9);
    if (rank == 2) {
      board.begin({.op = Op::kRecvActivation, .micro_batch = 3});
      board.wait_for(Wait::kRanks);
    }
    while (true) {
      if (rank == 1) board.begin({.op = Op::kForward, .micro_batch = 3});
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  std::string said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  /// Within the alarm's time and five seconds, as users are promised.
  bool says(const std::string& text) {
    for (int i = 0; i < 55; ++i) {
      if (said().find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }

  double abort_seconds_ = 0;
  StatusBoard board_;
  std::vector<pid_t> children_;
  std::mutex mutex_;
  std::string said_;
  std::atomic<int> left_with_ = -1;
  std::unique_ptr<Watchdog> watchdog_;
};

TEST_F(WatchdogTest, AStoppedProcessIsNamedAndTheRunGoesOnWhenItDoes) {
  kill(children_[0], SIGSTOP);
  ASSERT_TRUE(says("its process was stopped (SIGSTOP)")) << said();
  const std::string table = said();
  EXPECT_LT(table.find("SIGSTOP"), table.find("RecvActivation 3 of step 9: waits for rank 1")) << table;
  kill(children_[0], SIGCONT);
  EXPECT_EQ(left_with_, -1) << "there is no time after which it ends";
}

TEST_F(WatchdogTest, AProcessThatHasEndedIsNamed) {
  kill(children_[0], SIGKILL);
  ASSERT_TRUE(says("has ended: its process is gone")) << said();
  EXPECT_LT(said().find("has ended"), said().find("waits for rank 1")) << said();
}

TEST_F(WatchdogTest, ARankThatComputesForTooLongIsTheCulpritOfThoseThatWait) {
  EXPECT_TRUE(says("the run stands still")) << "rank 2 waits, and this rank";
  EXPECT_TRUE(says("RecvActivation 3 of step 9: waits for rank 1")) << said();
}

class AbortingWatchdogTest : public WatchdogTest {
 protected:
  AbortingWatchdogTest() { abort_seconds_ = 2; }
};

TEST_F(AbortingWatchdogTest, AJobThatStandsStillTooLongEndsOnAllRanks) {
  kill(children_[0], SIGSTOP);
  EXPECT_TRUE(says("run.watchdog_abort_seconds")) << said();
  int status = 0;
  EXPECT_EQ(waitpid(children_[1], &status, 0), children_[1]);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  EXPECT_EQ(left_with_, 1);
  children_.pop_back();
}

}  // namespace
}  // namespace convoy
