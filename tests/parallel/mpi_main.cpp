/// A main for GoogleTest programs under mpirun: a failure on any rank ends all ranks, and a test that hangs ends too.
///
/// Every rank runs the same tests in the same order. A rank that failed a check might not send what others wait for, so
/// the first failure is printed by the rank that met it and aborts the job.
#include "parallel/mpi_main.h"

#include <csignal>
#include <cstdio>
#include <cstring>

#include <gtest/gtest.h>
#include <unistd.h>

#include "convoy/comm/session.h"

namespace convoy::test {

namespace {

// A test takes seconds at most, with sanitizers and four ranks on two cores ten times as long.
constexpr unsigned kSecondsATest = 300;

mpi::Communicator the_world;

extern "C" void report_hang(int) {
  static constexpr char kMessage[] = "mpi_main: this test took longer than 300 s; the job ends here\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  _exit(1);  // mpirun ends the other ranks
}

class AbortOnFailure : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& info) override {
    std::snprintf(name_, sizeof(name_), "%s.%s", info.test_suite_name(), info.name());
    alarm(kSecondsATest);
  }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const char* file = result.file_name() != nullptr ? result.file_name() : "unknown file";
    std::fprintf(stderr, "%s failed on rank %d of %d: %s:%d\n%s\n", name_, the_world.rank(), the_world.size(), file,
                 result.line_number(), result.message());
    std::fflush(nullptr);
    MPI_Abort(the_world.handle(), 1);
  }

  void OnTestEnd(const testing::TestInfo&) override { alarm(0); }

  char name_[256] = "(between tests)";
};

ExitStatus run_tests() {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (the_world.rank() != 0) delete listeners.Release(listeners.default_result_printer());  // one voice is enough
  listeners.Append(new AbortOnFailure);                                                     // GoogleTest owns it
  std::signal(SIGALRM, report_hang);
  return RUN_ALL_TESTS() == 0 ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace

const mpi::Communicator& world() {
  return the_world;
}

}  // namespace convoy::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();  // lists them, without MPI
  return convoy::mpi::run_guarded(argc, argv, [](convoy::mpi::Session& session) {
    convoy::test::the_world = session.world();
    return convoy::test::run_tests();
  });
}
