/// tools/mpirun: no stop signal is lost, whenever it arrives, and no job remains, however its launcher ends.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "convoy/base/clock.h"
#include "convoy/base/random.h"

#include "app/program.h"
#include "app/small_data.h"

namespace convoy::test {

namespace {

constexpr double kTimeoutSeconds = 90;  // limit for a job's start or end on a machine that is busy with other tests

void sleep_seconds(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// Whether the condition becomes true within the timeout.
bool becomes_true(const std::function<bool()>& condition, double timeout_seconds = kTimeoutSeconds) {
  const double end = now_seconds() + timeout_seconds;
  while (!condition()) {
    if (now_seconds() > end) return false;
    sleep_seconds(0.02);
  }
  return true;
}

// Returns the ids of all processes whose command line holds the word.
std::vector<pid_t> processes_with(const std::string& word) {
  std::vector<pid_t> processes;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (contains(read_text(entry.path() / "cmdline"), word)) processes.push_back(std::stoi(name));
  }
  return processes;
}

// Whether no process holds the lock. A dying process has no command line any more, but still has its files open:
// looking for processes alone would be too early.
bool nobody_holds_lock(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool is_free = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  close(descriptor);
  return is_free;
}

std::string program_of(pid_t process) {
  return read_text(fmt::format("/proc/{}/comm", process));
}

// A start of tools/mpirun, whose output goes to a file.
class Launch {
 public:
  Launch(std::vector<std::string> command, std::string output) : output_(std::move(output)) {
    command.insert(command.begin(), CONVOY_TOOLS "/mpirun");
    std::vector<char*> words;
    for (std::string& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    write_text(output_, "");
    process_ = fork();
    if (process_ != 0) return;
    setsid();                          // no terminal, and not the test's process group
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is killed leaves no job
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(open(output_.c_str(), O_WRONLY | O_APPEND), STDOUT_FILENO);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    execv(words[0], words.data());
    _exit(127);
  }
  ~Launch() {
    if (status_) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  pid_t process() const { return process_; }
  void send(int signal) const { kill(process_, signal); }
  std::string output() const { return read_text(output_); }

  // Returns the folder of Open MPI's files; "" if the script has none yet.
  std::string folder() const {
    std::error_code gone;
    std::filesystem::directory_iterator file(fmt::format("/proc/{}/fd", process_), gone);
    for (; !gone && file != std::filesystem::directory_iterator(); file.increment(gone)) {
      std::error_code closed;
      std::string target = std::filesystem::read_symlink(file->path(), closed).string();
      if (contains(target, "/convoy-mpirun-")) return target;
    }
    return "";
  }

  // Returns the exit status as a shell does: 128 + N for signal N. -1: the process did not end, and is killed now.
  int wait() {
    int status = 0;
    if (!becomes_true([&] { return waitpid(process_, &status, WNOHANG) == process_; })) return -1;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return *status_;
  }

 private:
  std::string output_;
  pid_t process_ = 0;
  std::optional<int> status_;
};

class Mpirun : public testing::Test {
 protected:
  Mpirun() : arguments_(import_small_data(directory_ / "small")), run_(directory_ / "run") {
    setenv("OMP_NUM_THREADS", "1", 1);
  }
  // Kills what a failed test leaves running.
  void TearDown() override {
    for (const pid_t process : processes_with(run_)) kill(process, SIGKILL);
  }

  // Arguments of a training on two ranks until it is stopped; each one continues in the run directory of the one
  // before.
  std::vector<std::string> endless_training() const {
    return std::vector<std::string>{"-n", "2", CONVOY_PROGRAM} + arguments_ +
           std::vector<std::string>{"--train.epochs=1000000", "--checkpoint.every_epochs=0", "--run.directory=" + run_};
  }
  std::string log() const { return directory_ / "output"; }

  bool is_training() const {
    std::size_t ranks = 0;
    for (const pid_t process : processes_with(run_)) ranks += program_of(process) == "convoy\n" ? 1 : 0;
    return ranks == 2 && std::filesystem::exists(run_ + "/steps.csv");
  }

  // Sends a job the signal `seconds` after its start: all of the job ends, with status 75 if a command had begun.
  void expect_stop(int signal, double seconds) const {
    SCOPED_TRACE(fmt::format("{} after {} s", strsignal(signal), seconds));
    Launch launch(endless_training(), log());
    sleep_seconds(seconds);
    launch.send(signal);
    const int status = launch.wait();
    // If the signal ended the script before bash caught it, the script may have been waiting for a command, which takes
    // a moment to end.
    EXPECT_TRUE(becomes_true([this] { return processes_with(run_).empty(); }, 5)) << launch.output();
    const bool ended_before_bash_caught_it = status == 128 + signal && launch.output().empty();
    EXPECT_TRUE(status == 75 || ended_before_bash_caught_it) << status << "\n" << launch.output();
  }

  // Kills the script `seconds` after its start.
  void expect_nothing_left_after_kill(double seconds) const {
    SCOPED_TRACE(fmt::format("killed after {} s", seconds));
    Launch launch(endless_training(), log());
    sleep_seconds(seconds);
    launch.send(SIGKILL);
    launch.wait();
    EXPECT_TRUE(becomes_true([this] { return processes_with(run_).empty(); }, 10)) << launch.output();
  }

  // Expects that another start in the same run directory finds its lock free and its checkpoints valid.
  void expect_training_goes_on() const {
    Launch launch(endless_training(), log());
    EXPECT_TRUE(becomes_true([this] { return is_training(); })) << launch.output();
    launch.send(SIGTERM);
    EXPECT_EQ(launch.wait(), 75) << launch.output();
    EXPECT_TRUE(contains(launch.output(), "stopped on request")) << launch.output();
  }

  WorkingDirectory directory_;
  std::vector<std::string> arguments_;
  std::string run_;
};

using MpirunManyTrials = Mpirun;

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
}

}  // namespace

TEST_F(Mpirun, PassesStopSignalsOnFromItsFirstMoment) {
  for (const double seconds : {0.0, 0.03, 0.1, 0.25, 0.5, 1.5}) expect_stop(SIGUSR1, seconds);
  for (const int signal : {SIGINT, SIGTERM})
    for (const double seconds : {0.0, 0.1, 0.5}) expect_stop(signal, seconds);
  expect_training_goes_on();
}

TEST_F(MpirunManyTrials, LoseNoSignalAndLeaveNoJob) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const auto draw = [trial](std::uint64_t index, std::uint64_t below) {
      return random_below({.seed = 1, .item = trial}, index, below);
    };
    const std::vector<int> signals = {SIGUSR1, SIGINT, SIGTERM, SIGHUP, SIGKILL};
    const int signal = signals[draw(0, signals.size())];
    const double seconds = static_cast<double>(draw(1, 2000)) * 1e-3 / static_cast<double>(1 + draw(2, 8));
    signal == SIGKILL ? expect_nothing_left_after_kill(seconds) : expect_stop(signal, seconds);
    if (HasFailure()) return;
  }
  expect_training_goes_on();
}

TEST_F(Mpirun, KillsTheJobOnASecondInterrupt) {
  Launch launch(endless_training(), log());
  ASSERT_TRUE(becomes_true([this] { return is_training(); })) << launch.output();
  for (const pid_t process : processes_with(run_))
    if (program_of(process) == "convoy\n") kill(process, SIGSTOP);  // ranks that do not answer
  launch.send(SIGINT);
  launch.send(SIGINT);  // a copy of the first
  sleep_seconds(1.2);
  EXPECT_FALSE(processes_with(run_).empty());
  launch.send(SIGINT);
  EXPECT_EQ(launch.wait(), 128 + SIGKILL) << launch.output();
  EXPECT_EQ(processes_with(run_), std::vector<pid_t>{});
  EXPECT_TRUE(contains(launch.output(), "INT came again: the job is killed")) << launch.output();
}

TEST_F(Mpirun, LeavesNoJobWhenItIsKilledItself) {
  for (const double seconds : {0.03, 0.25, 1.0}) expect_nothing_left_after_kill(seconds);
  Launch launch(endless_training(), log());
  ASSERT_TRUE(becomes_true([this] { return is_training(); })) << launch.output();
  const std::string folder = launch.folder();
  EXPECT_FALSE(std::filesystem::is_empty(folder)) << "Open MPI's shared memory";
  launch.send(SIGKILL);
  launch.wait();
  EXPECT_TRUE(becomes_true([&] { return processes_with(run_).empty() && !std::filesystem::exists(folder); }, 10));
  expect_training_goes_on();
}

TEST_F(Mpirun, RemovesSharedMemoryOfAJobOfWhichAllProcessesWereKilled) {
  Launch killed(endless_training(), log());
  ASSERT_TRUE(becomes_true([this] { return is_training(); })) << killed.output();
  const std::string folder = killed.folder();
  const auto is_guard = [&](pid_t process) {
    return process != killed.process() && std::filesystem::equivalent(fmt::format("/proc/{}/exe", process),
                                                                      fmt::format("/proc/{}/exe", killed.process()));
  };
  for (const pid_t process : processes_with(run_))
    if (is_guard(process)) kill(process, SIGKILL);
  for (const pid_t process : processes_with(run_)) kill(process, SIGKILL);
  killed.wait();
  ASSERT_TRUE(becomes_true([this] { return processes_with(run_).empty(); }, 10));
  ASSERT_TRUE(becomes_true([&] { return nobody_holds_lock(folder); }, 10));
  EXPECT_TRUE(std::filesystem::exists(folder)) << "nobody was left to remove it";

  Launch running(endless_training(), directory_ / "second-output");
  ASSERT_TRUE(becomes_true([this] { return is_training(); })) << running.output();
  EXPECT_FALSE(std::filesystem::exists(folder));
  const std::string in_use = running.folder();
  Launch third({"-n", "1", CONVOY_PROGRAM, "help"}, log());
  EXPECT_EQ(third.wait(), 0) << third.output();
  EXPECT_FALSE(std::filesystem::is_empty(in_use)) << "of a job that is on";
  running.send(SIGUSR1);
  EXPECT_EQ(running.wait(), 75) << running.output();
  EXPECT_FALSE(std::filesystem::exists(in_use));
}

TEST_F(Mpirun, PrintsTheProgramsMessageLastAndEndsWithItsStatus) {
  Launch failed({"-n", "2", CONVOY_GUARDED_PROGRAM, "failed_on_last_others_wait"}, log());
  EXPECT_EQ(failed.wait(), 1);
  EXPECT_TRUE(contains(last_line(failed.output()), "the disk is full")) << failed.output();
  Launch refused({"-n", "2", CONVOY_PROGRAM, "train", "--grid.stages=x"}, log());
  EXPECT_EQ(refused.wait(), 2);
  EXPECT_TRUE(contains(last_line(refused.output()), "grid.stages")) << refused.output();
  Launch stopped({"-n", "2", CONVOY_GUARDED_PROGRAM, "stopped"}, log());
  EXPECT_EQ(stopped.wait(), 75);
  EXPECT_EQ(last_line(stopped.output()), "convoy is about to stop");
}

TEST_F(Mpirun, ShowsWhatTheLauncherAloneKnows) {
  Launch missing({"-n", "2", "./no-such-program"}, log());
  EXPECT_NE(missing.wait(), 0);
  EXPECT_TRUE(contains(missing.output(), "no-such-program")) << missing.output();

  Launch launch(endless_training(), log());
  ASSERT_TRUE(becomes_true([this] { return is_training(); })) << launch.output();
  EXPECT_EQ(signal_ranks(run_, SIGKILL, 1), 1);
  EXPECT_EQ(launch.wait(), 128 + SIGKILL);
  EXPECT_TRUE(contains(launch.output(), "signal 9 (Killed)")) << launch.output();
}

}  // namespace convoy::test
