/// Has all ranks of a job watched.
#pragma once

#include <memory>

#include "convoy/comm/communicator.h"
#include "convoy/params/parameters.h"

#include "watch/status_board.h"
#include "watch/watchdog.h"

namespace convoy {

/// From here until it is destroyed, a rank that stands still is found, named by rank 0, and after
/// run.watchdog_abort_seconds ends the job.
class Watch {
 public:
  /// All ranks of `world`.
  Watch(const RunParams& params, const mpi::Communicator& world);

  StatusBoard& board() { return board_; }
  /// All ranks again; the board is told when this one waits for others.
  const mpi::Communicator& world() const { return world_; }

 private:
  StatusBoard board_;
  mpi::Communicator world_;
  std::unique_ptr<Watchdog> watchdog_;
};

}  // namespace convoy
