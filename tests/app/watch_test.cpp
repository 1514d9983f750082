/// A rank that stands still is named within seconds, and the job ends instead of waiting for ever.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "app/restart.h"
#include "unit/messages.h"

namespace convoy::test {

class Watch : public Restart {
 protected:
  /// Of a run on two stages and two replicas that trains for ever: one rank gets the signal once all are at work.
  ProcessResult train_and_signal(int signal) {
    std::thread sender([this, signal] {
      for (int tenth = 0; tenth < 600 && !std::filesystem::exists(run_ + "/steps.csv"); ++tenth)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      std::this_thread::sleep_for(std::chrono::seconds(2));
      EXPECT_EQ(signal_ranks(run_, signal, 1), 1);
      std::this_thread::sleep_for(std::chrono::seconds(12));
      signal_ranks(run_, SIGKILL, 4);  // whatever is left, stopped ranks too
    });
    const ProcessResult result = run_program(
        {.arguments = arguments_ +
                      std::vector<std::string>{"--train.epochs=100000", "--grid.stages=2", "--run.watchdog_seconds=3",
                                               "--run.watchdog_abort_seconds=4", "--run.directory=" + run_},
         .ranks = 4});
    sender.join();
    return result;
  }
};

TEST_F(Watch, AStoppedRankIsNamedAndTheJobEnds) {
  const ProcessResult result = train_and_signal(SIGSTOP);
  EXPECT_NE(result.status, 0);
  EXPECT_CONTAINS(result.output, "the run stands still; the rank that holds up the others comes first");
  EXPECT_CONTAINS(result.output, "its process was stopped (SIGSTOP)");
  EXPECT_CONTAINS(result.output, "the run ends here: it has stood still for");
}

TEST_F(Watch, ARunThatTrainsIsNotDisturbed) {
  const ProcessResult result = train(12, {"--run.watchdog_seconds=3", "--grid.stages=2"}, 4);
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output.find("stands still"), std::string::npos) << result.output;
}

}  // namespace convoy::test
