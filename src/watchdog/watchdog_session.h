/// Lets all ranks of a job watch each other.
#pragma once

#include <memory>

#include "convoy/comm/communicator.h"
#include "convoy/comm/session.h"

#include "watchdog/start_watchdog.h"
#include "watchdog/status_board.h"
#include "watchdog/watchdog.h"

namespace convoy {

struct RunParams;

/// Returns the specification of the StartWatchdog, which watches before MPI works. It says how long a start may take.
StartWatchdog::Spec start_spec(const RunParams& params);

/// Watches all ranks from its construction until MPI has ended. Rank 0 prints the name of a rank that makes no
/// progress, and ends the job after run.watchdog_abort_seconds.
class WatchdogSession {
 public:
  /// All ranks of the session call it. Connects each rank with rank 0; if that fails, rank 0 warns and no rank is
  /// watched.
  WatchdogSession(const RunParams& params, mpi::Session& session);
  /// Notes that this rank's work is done: it waits for the others in MPI's end. If it is destroyed by an exception, the
  /// rank is not watched any more.
  ~WatchdogSession();
  WatchdogSession(const WatchdogSession&) = delete;
  WatchdogSession& operator=(const WatchdogSession&) = delete;

  /// The board to which this rank writes what it does.
  StatusBoard& board() { return parts_->board; }
  /// The group of all ranks. The board is told when this rank waits in a call of the group.
  const mpi::Communicator& world() const { return world_; }

 private:
  /// The objects that live until MPI has ended.
  struct Parts {
    StatusBoard board;
    std::unique_ptr<Watchdog> watchdog;
  };

  std::shared_ptr<Parts> parts_;
  mpi::Communicator world_;
  int num_exceptions_;
};

}  // namespace convoy
