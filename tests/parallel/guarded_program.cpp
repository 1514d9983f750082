/// A program as convoy's main is one, that ends in the way its argument names: what tests of run_guarded start.
#include <csignal>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string_view>

#include "convoy/comm/session.h"

namespace {

using convoy::ExitStatus;

// What a rank runs into that waits for one that has left.
void wait_for_all(const convoy::mpi::Communicator& world) {
  world.barrier();
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
  if (way == "mpi_error" && last) world.send(nullptr, 1, world.size() + 7, 0);
  if (way == "mpi_error") wait_for_all(world);
  if (way == "out_of_memory" && last) throw std::bad_alloc();
  if (way == "out_of_memory") wait_for_all(world);
  if (way == "unknown_exception" && last) throw 42;
  if (way == "unknown_exception") wait_for_all(world);
  if (way == "done" && world.rank() == 0) std::puts("the last line");
  return ExitStatus::kDone;
}

}  // namespace

int main(int argc, char** argv) {
  return convoy::mpi::run_guarded(
      argc, argv, [&](convoy::mpi::Session& session) { return end_as(argc > 1 ? argv[1] : "done", session.world()); });
}
