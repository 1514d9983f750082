/// Stopping early on request: a signal to any rank, agreed on by all, at the end of a step.
#pragma once

#include <cstdint>

#include "convoy/comm/communicator.h"

namespace convoy {

/// SIGTERM and SIGUSR1 ask for a stop (Slurm's --signal and preemption; mpirun passes both on), from now on to the end
/// of the process: launchers repeat SIGTERM while ranks that were asked to stop are leaving.
class StopRequest {
 public:
  explicit StopRequest(const mpi::Communicator& world);
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// After each step, all ranks of the world: whether any had been asked when the step before ended. The same answer
  /// everywhere, one step late so that nobody waits.
  bool agreed();

 private:
  const mpi::Communicator& world_;
  mpi::Request exchange_;
  std::int64_t mine_ = 0, any_ = 0;
};

}  // namespace convoy
