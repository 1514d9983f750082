/// Processes that stand still, each in its way, are told apart within seconds.
#include "watchdog/watchdog.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "relay.h"

namespace convoy {
namespace {

constexpr double kAlarmSeconds = 0.5;
constexpr Secret kJobSecret = {42, 43};

volatile std::sig_atomic_t g_loader_hangs = 0;

void sleep_a_little() {
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

/// Three stages of one replica on this host; what ranks say is collected.
class WatchdogTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const pid_t child : children_) {
      kill(child, SIGCONT);
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

  WatchdogSpec spec_of(std::int64_t rank) {
    WatchdogSpec spec{.alarm_seconds = kAlarmSeconds, .abort_seconds = abort_seconds_, .rank = rank};
    for (int r = 0; r < num_ranks_; ++r) {
      spec.ranks.push_back({.rank = r, .host = "here", .process = processes_[r]});
      if (are_in_containers_) spec.ranks.back() = {.rank = r, .host = "here", .process_space = std::to_string(r)};
    }
    spec.say = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      said_ += text + '\n';
    };
    spec.leave = [this](int status) { left_with_ = status; };
    return spec;
  }

  /// Makes the links of all ranks, before their processes are started.
  void listen(int num_ranks) {
    for (int rank = 0; rank < num_ranks; ++rank)
      links_.push_back(
          std::make_unique<ControlLinks>(rank, num_ranks, kJobSecret, std::vector<std::string>{"127.0.0.1"}));
  }

  /// In the process of that rank: its links, as MPI would have told it of the others. Rank 0 is behind a relay.
  std::unique_ptr<ControlLinks> take_links(int rank, const std::string& root) {
    std::vector<std::vector<std::string>> addresses;
    for (const auto& links : links_) addresses.push_back(links->addresses());
    addresses[0] = {root};
    std::unique_ptr<ControlLinks> own = std::move(links_[static_cast<std::size_t>(rank)]);
    links_.clear();  // so that a rank whose process has ended does not seem to listen
    own->set_addresses(std::move(addresses));
    return own;
  }

  std::unique_ptr<ControlLinks> take_connected_links(int rank, const std::string& root) {
    std::unique_ptr<ControlLinks> own = take_links(rank, root);
    EXPECT_TRUE(own->connect(0, {.kind = Packet::Kind::kHello, .rank = rank}, std::chrono::seconds(10)));
    return own;
  }

  /// A child: rank 1 computes, and goes on doing so, until SIGUSR1 lets its loader hang; rank 2 waits for rank 1, or
  /// computes, too.
  pid_t start_rank(int rank) {
    const pid_t child = fork();
    if (child != 0) return processes_[rank] = child;
    std::signal(SIGUSR1, [](int) { g_loader_hangs = 1; });
    StatusBoard board;
    board.take_place(0, rank);
    board.enter(Activity::kTraining);
    board.begin_step(9);
    WatchdogSpec spec = spec_of(rank);
    spec.leave = [](int status) { _exit(status); };
    const Watchdog watchdog(std::move(spec), board, take_connected_links(rank, relay_->address()));
    const bool waits = rank == 2 && rank_2_waits_;
    if (waits) {
      board.begin({.op = Op::kRecvActivation, .micro_batch = 3});
      board.wait_for(Wait::kRanks);
    }
    while (rank == 2 || g_loader_hangs == 0) {
      if (!waits) board.begin({.op = Op::kForward, .micro_batch = 3});
      sleep_a_little();
    }
    board.begin({.op = Op::kLoad, .micro_batch = 4});
    board.wait_for(Wait::kSamples);
    while (true) sleep_a_little();
  }

  /// Rank 0 waits for rank 1, too.
  void start_root() {
    listen(3);
    processes_[0] = getpid();
    relay_ = std::make_unique<Relay>(links_[0]->addresses().front());
    for (const int rank : {1, 2}) children_.push_back(start_rank(rank));
    relay_->start();
    board_.take_place(0, 0);
    board_.enter(Activity::kTraining);
    board_.begin_step(9);
    board_.begin({.op = Op::kRecvGradient, .micro_batch = 3});
    board_.wait_for(Wait::kRanks);
    watchdog_ = std::make_unique<Watchdog>(spec_of(0), board_, take_links(0, relay_->address()));
    watchdog_->begin();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // until both have said hello
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
  void expect_culprit(const std::string& text) {
    ASSERT_TRUE(says(text)) << said();
    EXPECT_LT(said().find(text), said().find("RecvActivation 3 of step 9: waits for rank 1")) << said();
  }

  /// Soon after it has said why.
  bool leaves() {
    for (int i = 0; i < 120 && left_with_ < 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return left_with_ == 1;
  }

  double abort_seconds_ = 0;
  int num_ranks_ = 3;
  bool rank_2_waits_ = true;
  bool are_in_containers_ = false;
  StatusBoard board_;
  std::vector<std::unique_ptr<ControlLinks>> links_;
  std::int64_t processes_[4] = {};
  std::vector<pid_t> children_;
  std::mutex mutex_;
  std::string said_;
  std::atomic<int> left_with_ = -1;
  std::unique_ptr<Relay> relay_;
  std::unique_ptr<Watchdog> watchdog_;
};

TEST_F(WatchdogTest, WaitsForARankThatGoesOnAreNoReasonToSayAnything) {
  start_root();
  std::this_thread::sleep_for(std::chrono::seconds(4));
  EXPECT_EQ(said(), "");
}

TEST_F(WatchdogTest, AStoppedProcessIsNamedAndTheRunGoesOnWhenItDoes) {
  start_root();
  kill(children_[0], SIGSTOP);
  expect_culprit("its process was stopped (SIGSTOP)");
  kill(children_[0], SIGCONT);
  EXPECT_TRUE(says("the run continues")) << said();
  EXPECT_EQ(left_with_, -1) << "there is no time after which it ends";
}

TEST_F(WatchdogTest, AProcessInADebuggerIsNamed) {
  start_root();
  if (ptrace(PTRACE_SEIZE, children_[0], nullptr, nullptr) != 0) GTEST_SKIP() << "no process may be traced here";
  ptrace(PTRACE_INTERRUPT, children_[0], nullptr, nullptr);
  waitpid(children_[0], nullptr, __WALL);
  expect_culprit("a debugger holds its process");  // as a breakpoint would have it: its watchdog still answers
}

TEST_F(WatchdogTest, AProcessThatHasEndedIsNamedAndTheJobEndsAtOnce) {
  start_root();
  kill(children_[0], SIGKILL);
  expect_culprit("has ended: its process is gone");
  EXPECT_TRUE(says("the run ends here: rank 1 has ended")) << said();
  EXPECT_TRUE(leaves());
}

TEST_F(WatchdogTest, ABrokenConnectionIsNoEnd) {
  start_root();
  for (int i = 0; i < 3; ++i) {
    relay_->cut();
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  EXPECT_EQ(said(), "");
  EXPECT_EQ(left_with_, -1);
  kill(children_[0], SIGUSR1);
  expect_culprit("Load 4 of step 9: waits for its samples");  // it is heard again
}

TEST_F(WatchdogTest, ALoaderThatHangsIsNamed) {
  start_root();
  kill(children_[0], SIGUSR1);
  expect_culprit("Load 4 of step 9: waits for its samples");
}

TEST_F(WatchdogTest, AJobThatStandsStillForTooLongEndsOnAllRanks) {
  abort_seconds_ = 2;
  start_root();
  kill(children_[0], SIGSTOP);
  expect_culprit("its process was stopped (SIGSTOP)");
  EXPECT_TRUE(says("run.watchdog_abort_seconds")) << said();
  int status = 0;
  EXPECT_EQ(waitpid(children_[1], &status, 0), children_[1]);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  EXPECT_TRUE(leaves());
  children_.pop_back();
}

// A connection may be all that it has lost.
TEST_F(WatchdogTest, OneThatDoesNotAnswerWhileAllOthersGoOnEndsNoJob) {
  abort_seconds_ = 2;
  rank_2_waits_ = false;
  start_root();
  kill(children_[0], SIGSTOP);
  ASSERT_TRUE(says("its process was stopped (SIGSTOP)")) << said();
  for (int i = 0; i < 400; ++i) {
    board_.begin({.op = Op::kForward, .micro_batch = 3});
    sleep_a_little();
  }
  EXPECT_NE(said().find("the run continues"), std::string::npos) << said();
  EXPECT_EQ(left_with_, -1) << said();
}

// Several containers on one host: their numbers of processes mean others here.
TEST_F(WatchdogTest, AProcessThatIsNotSeenHereHasNotEnded) {
  are_in_containers_ = true;
  start_root();
  kill(children_[0], SIGSTOP);
  ASSERT_TRUE(says("does not answer")) << said();
  EXPECT_EQ(said().find("has ended"), std::string::npos) << said();
  EXPECT_EQ(left_with_, -1);
}

/// This process is the last rank; the others are children, which compute.
class SilentRoot : public WatchdogTest {
 protected:
  void start(int num_ranks, double abort_seconds) {
    abort_seconds_ = abort_seconds;
    num_ranks_ = num_ranks;
    listen(num_ranks);
    const std::string root = links_[0]->addresses().front();
    const int own = num_ranks - 1;
    processes_[own] = getpid();
    for (int rank = 0; rank < own; ++rank) {
      const pid_t child = fork();
      if (child == 0) be_rank(rank, root);
      children_.push_back(child);
      processes_[rank] = child;
    }
    board_.enter(Activity::kTraining);
    watchdog_ = std::make_unique<Watchdog>(spec_of(own), board_, take_connected_links(own, root));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }

  [[noreturn]] void be_rank(int rank, const std::string& root) {
    StatusBoard board;
    WatchdogSpec spec = spec_of(rank);
    spec.say = [](const std::string&) {};
    spec.leave = [](int status) { _exit(status); };
    for (RankReport& report : spec.ranks)
      if (report.process == 0) report.process = getpid();  // one that is started later: it has not ended
    Watchdog watchdog(std::move(spec), board, rank == 0 ? take_links(0, root) : take_connected_links(rank, root));
    watchdog.begin();
    while (true) {
      board.enter(Activity::kTraining);
      sleep_a_little();
    }
  }
};

TEST_F(SilentRoot, AStoppedRankZeroIsNamedByRankOneAndTheJobEnds) {
  start(2, 1);
  kill(children_[0], SIGSTOP);
  EXPECT_TRUE(says("the run makes no progress")) << said();
  EXPECT_TRUE(says("its process was stopped (SIGSTOP)")) << said();
  EXPECT_TRUE(leaves());
}

TEST_F(SilentRoot, ARankZeroThatHasEndedIsNamedByRankOneAndTheJobEnds) {
  start(2, 1);
  kill(children_[0], SIGKILL);
  waitpid(children_[0], nullptr, 0);
  EXPECT_TRUE(says("the run ends here: rank 0 has ended")) << said();
  EXPECT_TRUE(leaves());
  children_.clear();
}

TEST_F(SilentRoot, OneThatWakesUpIsSaidTo) {
  start(2, 0);
  kill(children_[0], SIGSTOP);
  EXPECT_TRUE(says("its process was stopped (SIGSTOP)")) << said();
  kill(children_[0], SIGCONT);
  EXPECT_TRUE(says("rank 0 answers again after")) << said();
  EXPECT_EQ(left_with_, -1);
}

// Ranks 0 and 1 of three: the last is the lowest that answers.
TEST_F(SilentRoot, TwoStoppedRanksAreNamedByTheLowestThatAnswers) {
  start(3, 1);
  kill(children_[0], SIGSTOP);
  kill(children_[1], SIGSTOP);
  EXPECT_TRUE(says("the run makes no progress")) << said();
  const std::string text = said();
  const std::size_t first = text.find("its process was stopped (SIGSTOP)");
  EXPECT_NE(text.find("its process was stopped (SIGSTOP)", first + 1), std::string::npos) << text;
  EXPECT_TRUE(leaves());
}

// Rank 1 answers, and would say it.
TEST_F(SilentRoot, NoRankSpeaksInThePlaceOfALowerOneThatAnswers) {
  start(3, 1);
  kill(children_[0], SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(6));
  EXPECT_EQ(said(), "");
  EXPECT_EQ(left_with_, -1) << "rank 1 computes, and waits for nobody";
}

}  // namespace
}  // namespace convoy
