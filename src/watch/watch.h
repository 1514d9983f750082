/// Lets all ranks of a job watch each other.
#pragma once

#include <memory>

#include "convoy/comm/communicator.h"
#include "convoy/comm/session.h"

#include "watch/start_watch.h"
#include "watch/status_board.h"
#include "watch/watchdog.h"

namespace convoy {

struct RunParams;

/// Returns the specification of the StartWatch, which watches before MPI works. It says how long a start may take.
StartWatch::Spec start_spec(const RunParams& params);

/// Watches all ranks from its construction until MPI has ended. Rank 0 prints the name of a rank that makes no
/// progress, and ends the job after run.watchdog_abort_seconds.
class Watch {
 public:
  /// All ranks of the session call it. Connects each rank with rank 0; if that fails, rank 0 warns and no rank is
  /// watched.
  Watch(const RunParams& params, mpi::Session& session);
  /// Notes that this rank's work is done: it waits for the others in MPI's end. If it is destroyed by an exception, the
  /// rank is not watched any more.
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// The board to which this rank writes what it does.
  StatusBoard& board() { return watched_->board; }
  /// The group of all ranks. The board is told when this rank waits in a call of the group.
  const mpi::Communicator& world() const { return world_; }

 private:
  /// The objects that live until MPI has ended.
  struct Watched {
    StatusBoard board;
    std::unique_ptr<Watchdog> watchdog;
  };

  std::shared_ptr<Watched> watched_;
  mpi::Communicator world_;
  int num_exceptions_;
};

}  // namespace convoy
