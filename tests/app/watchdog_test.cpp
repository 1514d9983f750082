/// A rank that hangs is named within seconds, and the job ends instead of waiting for ever.
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "app/restart.h"
#include "unit/messages.h"

namespace convoy::test {

class Watchdog : public Restart {
 protected:
  /// Runs an endless training on two stages and two replicas; one rank gets the signal when all are at work. Ranks that
  /// are left 20 seconds later are killed. Returns how the program ended.
  ProcessResult train_and_signal(int signal) {
    std::atomic<bool> ended = false;
    std::thread sender([this, signal, &ended] {
      wait_up_to(60, [this] { return std::filesystem::exists(run_ + "/steps.csv"); });
      std::this_thread::sleep_for(std::chrono::seconds(1));
      EXPECT_EQ(signal_ranks(run_, signal, 1), 1);
      const auto is_gone = [this] { return signal_ranks(run_, 0, 4) == 0; };  // the last rank ends after mpirun
      wait_up_to(20, [&] { return ended && is_gone(); });
      EXPECT_EQ(signal_ranks(run_, SIGKILL, 4), 0) << "the job did not end by itself";
    });
    ProcessResult result =
        run_program({.arguments = arguments_ +
                                  std::vector<std::string>{"--train.epochs=100000", "--grid.stages=2",
                                                           "--train.evaluate_every_epochs=0",
                                                           "--checkpoint.every_epochs=0", "--run.watchdog_seconds=2",
                                                           "--run.watchdog_abort_seconds=3", "--run.directory=" + run_},
                     .ranks = 4});
    ended = true;
    sender.join();
    return result;
  }

  template <typename Done>
  static void wait_up_to(int seconds, Done&& done) {
    for (int tenth = 0; tenth < 10 * seconds && !done(); ++tenth)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
};

TEST_F(Watchdog, AStoppedRankIsNamedAndTheJobEnds) {
  const ProcessResult result = train_and_signal(SIGSTOP);
  EXPECT_NE(result.status, 0);
  EXPECT_TRUE(contains(result.output, "the run makes no progress")) << result.output;
  EXPECT_CONTAINS(result.output, "its process was stopped (SIGSTOP)");
  EXPECT_TRUE(contains(result.output, "the run ends here: ")) << result.output;
}

TEST_F(Watchdog, ARunThatTrainsIsNotDisturbed) {
  const ProcessResult result = train(12, {"--run.watchdog_seconds=3", "--grid.stages=2"}, 4);
  EXPECT_EQ(result.status, 0);
  EXPECT_FALSE(contains(result.output, "makes no progress")) << result.output;
}

}  // namespace convoy::test
