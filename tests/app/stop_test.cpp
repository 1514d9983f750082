/// Runs are stopped by signals, die with a rank, or find another run at work in their directory.
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <fmt/core.h>

#include "app/restart.h"

namespace convoy::test {

namespace {

class Stop : public Restart {};

// Waits until the file exists, at most a minute, and then one more second.
void wait_for_file(const std::string& path) {
  for (int tenth = 0; tenth < 600 && !std::filesystem::exists(path); ++tenth)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::this_thread::sleep_for(std::chrono::seconds(1));
}

}  // namespace

TEST_F(Stop, ASecondRunInTheSameDirectoryIsRefused) {
  std::thread second([this] {
    wait_for_file(directory_ / "shared-run/steps.csv");
    const ProcessResult refused = train(4, {"--run.directory=" + (directory_ / "shared-run")}, 2);
    EXPECT_EQ(refused.status, 2) << refused.output;
    EXPECT_TRUE(contains(refused.output, "is in use by process ")) << refused.output;
    EXPECT_EQ(signal_ranks(directory_ / "shared-run", SIGUSR1, 1), 1);
  });
  const ProcessResult first = run_program(
      {.arguments = arguments_ + std::vector<std::string>{"--train.epochs=100000",
                                                          "--run.directory=" + (directory_ / "shared-run")}});
  second.join();
  EXPECT_EQ(first.status, 75) << first.output;
}

TEST_F(Stop, ASignalWritesACheckpointAndEndsWith75) {
  // A long run; one rank of two is asked to stop once both are at work, and both agree.
  std::thread stopper([this] {
    wait_for_file(directory_ / "stopped-run/steps.csv");
    EXPECT_EQ(signal_ranks(directory_ / "stopped-run", SIGUSR1, 1), 1);
  });
  const ProcessResult result = run_program(
      {.arguments = arguments_ + std::vector<std::string>{"--train.epochs=100000", "--checkpoint.every_epochs=0",
                                                          "--run.directory=" + (directory_ / "stopped-run")},
       .ranks = 2});
  stopper.join();
  EXPECT_EQ(result.status, 75) << result.output;
  EXPECT_TRUE(contains(result.output, "stopped on request")) << result.output;
  const auto found = io::find_newest_checkpoint((directory_ / "stopped-run") + "/checkpoints",
                                                [](const std::string&, const std::string&) {});
  ASSERT_TRUE(found.has_value());
  EXPECT_GT(io::decode_checkpoint(found->bytes, found->path).state.step, 0);
}

TEST_F(Stop, ASignalWhileDataAndEngineOpenWritesACheckpointAndEndsWith75) {
  // From the moment when a data set is open to the end of the program, both ranks get one signal after the other.
  for (const int signal : {SIGUSR1, SIGTERM}) {
    std::atomic<bool> ended = false;
    std::thread stopper([this, signal, &ended] {
      while (!ended && !is_open_in_any_rank(directory_ / "small/data/train.h5")) std::this_thread::yield();
      for (; !ended; std::this_thread::sleep_for(std::chrono::milliseconds(5)))
        signal_ranks(directory_ / "early-run", signal, 2);
    });
    const std::string run = directory_ / fmt::format("early-run-{}", signal);
    const ProcessResult result = run_program(
        {.arguments = arguments_ + std::vector<std::string>{"--train.epochs=100000", "--run.directory=" + run},
         .ranks = 2,
         .timeout_seconds = 60});
    ended = true;
    stopper.join();
    EXPECT_EQ(result.status, 75) << result.output;
    EXPECT_TRUE(contains(result.output, "stopped on request")) << result.output;
    EXPECT_TRUE(contains(result.output, "asked to stop: the run ends after the next step")) << result.output;
    EXPECT_TRUE(std::filesystem::exists(io::checkpoint_path(run + "/checkpoints", 1))) << "at the first opportunity";
  }
}

TEST_F(Stop, AKilledRankEndsTheJob) {
  std::thread killer([this] {
    wait_for_file(directory_ / "killed-run/steps.csv");
    EXPECT_EQ(signal_ranks(directory_ / "killed-run", SIGKILL, 1), 1);
  });
  const ProcessResult result =
      run_program({.arguments = arguments_ + std::vector<std::string>{"--train.epochs=100000", "--grid.stages=2",
                                                                      "--run.directory=" + (directory_ / "killed-run")},
                   .ranks = 4,
                   .timeout_seconds = 60});
  killer.join();
  EXPECT_FALSE(result.timed_out) << result.output;
  EXPECT_NE(result.status, 0);
}

}  // namespace convoy::test
