/// A launcher that does not end after its ranks have ended is killed; one that ends, or a parent that is no launcher,
/// is left alone.
#include <chrono>
#include <csignal>
#include <string>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "watchdog/process.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;

// How a process of this name ends that starts another one, which leaves as a rank does, and then sleeps for so long.
int status_of_launcher(const std::string& name, milliseconds sleep, milliseconds patience) {
  const pid_t launcher = fork();
  if (launcher == 0) {
    prctl(PR_SET_NAME, name.c_str());
    const pid_t rank = fork();
    if (rank == 0) {
      end_launcher_after(patience);
      _exit(1);
    }
    waitpid(rank, nullptr, 0);
    usleep(static_cast<useconds_t>(1000 * sleep.count()));
    _exit(7);
  }
  int status = 0;
  waitpid(launcher, &status, 0);
  return status;
}

TEST(Launcher, ThatDoesNotEndIsKilled) {
  const int status = status_of_launcher("mpirun", milliseconds(20'000), milliseconds(100));
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
}

TEST(Launcher, ThatEndsByItselfIsLeftToIt) {
  const int status = status_of_launcher("mpirun", milliseconds(100), milliseconds(20'000));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

TEST(Launcher, OfAnotherNameIsNone) {
  const int status = status_of_launcher("slurmstepd", milliseconds(500), milliseconds(50));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

}  // namespace
}  // namespace convoy
