/// Stopping early on request: a signal to any rank, agreed on by all, at the end of a step.
#pragma once

#include <cstdint>

#include "convoy/comm/communicator.h"

namespace convoy {

/// SIGTERM, SIGUSR1 and SIGINT (Ctrl-C; a second one kills) ask for a stop, from now on to the end of the process:
/// launchers repeat SIGTERM while ranks that were asked to stop are leaving. srun passes both on; mpirun passes SIGUSR1
/// on, and ends with a status of its own after SIGTERM.
class StopRequest {
 public:
  explicit StopRequest(const mpi::Communicator& world);
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// After each step, all ranks of the world: whether any had been asked when agreed() was called before. The same
  /// answer everywhere, a step late so that nobody waits.
  bool agreed();
  /// Waits for the latest exchange; before the end.
  void finish();

 private:
  const mpi::Communicator& world_;
  mpi::Request exchange_;
  std::int64_t mine_ = 0, any_ = 0;
};

}  // namespace convoy
