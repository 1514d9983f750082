/// A program as convoy's main is one, that ends in the way its argument names: what tests of run_guarded start.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string_view>

#include <unistd.h>

#include "convoy/base/clock.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/session.h"
#include "convoy/comm/stop_signals.h"

namespace {

using convoy::ExitStatus;

// What a rank runs into that waits for one that has left.
void wait_for_all(const convoy::mpi::Communicator& world) {
  world.barrier();
}

// The same within a step, where patience is limited. On a busy machine a rank that offers its core to others gets it
// back after their time slices: between two tests of a message lie milliseconds.
void wait_in_step_for_all(const convoy::mpi::Communicator& world, useconds_t microseconds_between_tests = 0) {
  const std::int64_t mine = 0;
  std::int64_t result = 0;
  convoy::mpi::Request request = world.start_max(&mine, &result);
  convoy::mpi::wait_until([&] {
    if (microseconds_between_tests > 0) usleep(microseconds_between_tests);
    return request.test();
  });
}

void sleep_seconds(int seconds) {
  for (const double end = convoy::now_seconds() + seconds; convoy::now_seconds() < end;) usleep(100'000);
}

ExitStatus end_as(std::string_view way, const convoy::mpi::Communicator& world) {
  const bool last = world.rank() == world.size() - 1;
  if (way == "stopped" && world.rank() == 0) std::puts("convoy is about to stop");
  if (way == "stopped") return ExitStatus::kStoppedEarly;
  if (way == "refused") convoy::refuse("grid.stages = 3 is wrong");
  if (way == "refused_by_last" && last) convoy::refuse("grid.stages = 3 is wrong");
  if (way == "refused_by_last_others_wait") {
    if (last) convoy::refuse("grid.stages = 3 is wrong");
    wait_for_all(world);
  }
  if (way == "refused_by_first_others_wait") {
    if (world.rank() == 0) convoy::refuse("grid.stages = 3 is wrong");
    wait_for_all(world);
  }
  if (way == "failed") convoy::fail("the disk is full");
  if (way == "failed_on_last_others_wait") {
    if (last) convoy::fail("the disk is full");
    wait_for_all(world);
  }
  if (way == "failed_on_last_others_deaf") {  // as the trainer does, which takes SIGTERM for a request to stop
    std::signal(SIGTERM, SIG_IGN);
    if (last) convoy::fail("the disk is full");
    wait_for_all(world);
  }
  if (way.starts_with("terminated")) {  // as ranks are that Slurm asks to leave, be it because one of them has died
    convoy::catch_stop_signals(/*says_so=*/false);
    if (way == "terminated_slow_steps") {  // 5 s each: then 20 s are patiently waited for
      wait_for_all(world);                 // on a busy machine a rank may have started a second later
      if (last) sleep_seconds(5);
      wait_in_step_for_all(world);
    }
    std::raise(SIGTERM);
    if (way == "terminated_last_is_gone" && last) sleep_seconds(1000);
    if (way == "terminated_slow_steps" && last) sleep_seconds(17);
    if (way == "terminated_slow_file") convoy::mpi::on_root(world, [] { sleep_seconds(17); });
    wait_in_step_for_all(world, way == "terminated_last_is_gone" ? 2'000 : 0);
  }
  if (way == "mpi_error" && last) world.send(nullptr, 1, world.size() + 7, 0);
  if (way == "mpi_error") wait_for_all(world);
  if (way == "out_of_memory" && last) throw std::bad_alloc();
  if (way == "out_of_memory") wait_for_all(world);
  if (way == "file_system" && last) static_cast<void>(std::filesystem::file_size("/nowhere/data.h5"));
  if (way == "file_system") wait_for_all(world);
  if (way == "unknown_exception" && last) throw 42;
  if (way == "unknown_exception") wait_for_all(world);
  if ((way == "done" || way.starts_with("terminated")) && world.rank() == 0) std::puts("the last line");
  return ExitStatus::kDone;
}

}  // namespace

int main(int argc, char** argv) {
  return convoy::mpi::run_guarded(
      argc, argv, [&](convoy::mpi::Session& session) { return end_as(argc > 1 ? argv[1] : "done", session.world()); });
}
