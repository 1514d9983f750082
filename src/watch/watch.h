/// Has all ranks of a job watched.
#pragma once

#include <memory>

#include "convoy/comm/communicator.h"
#include "convoy/comm/session.h"

#include "watch/start_watch.h"
#include "watch/status_board.h"
#include "watch/watchdog.h"

namespace convoy {

struct RunParams;

/// For the time before the watch: how long a start may take.
StartWatch::Spec start_spec(const RunParams& params);

/// From here until MPI has ended, a rank that stands still is found, named by rank 0, and after
/// run.watchdog_abort_seconds ends the job.
class Watch {
 public:
  /// All ranks of the session call it.
  Watch(const RunParams& params, mpi::Session& session);
  /// This rank's work is done: it waits for the others in MPI's end. If it leaves because of an error, it is watched no
  /// more.
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  StatusBoard& board() { return watched_->board; }
  /// The group of all ranks; the board is told when this rank waits in it.
  const mpi::Communicator& world() const { return world_; }

 private:
  struct Watched {
    StatusBoard board;
    std::unique_ptr<Watchdog> watchdog;
  };

  std::shared_ptr<Watched> watched_;
  mpi::Communicator world_;
  int num_exceptions_;
};

}  // namespace convoy
