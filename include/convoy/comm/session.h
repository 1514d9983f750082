/// Starts and ends MPI, and ends the program if a run has failed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/comm/communicator.h"
#include "convoy/comm/launch.h"

namespace convoy::mpi {

/// The lifetime of MPI: the constructor calls MPI_Init_thread, the destructor MPI_Finalize. Errors of MPI calls throw
/// convoy::Error. A process that no launcher started is a world of one rank.
class Session {
 public:
  Session(int* argc, char*** argv);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Communicator& world() const { return world_; }
  /// How this process was launched. This was read before MPI was started, since MPI sets the same environment
  /// variables.
  const Launch& launch() const { return launch_; }
  /// Keeps an object alive until MPI_Finalize has returned on this rank.
  void keep_until_end(std::shared_ptr<void> object) { kept_.push_back(std::move(object)); }

 private:
  Launch launch_ = find_launch();
  Communicator world_;
  std::vector<std::shared_ptr<void>> kept_;
};

/// Returns the version of the MPI library that this process has loaded, "Open MPI v4.1.4", which need not be the one
/// that Convoy was built with.
std::string library_version();

/// Runs `body` inside a session and returns the process's exit status. All exceptions of the program end here:
/// a RequestError, which all ranks throw alike, is printed once, by rank 0, and ends every rank with status 2;
/// any other error is printed by the rank that met it, with its rank, and ends the whole job with status 1, by
/// MPI_Abort. If that hangs (a network that is down), the process exits some seconds later.
int run_guarded(int argc, char** argv, const std::function<ExitStatus(Session&)>& body);

/// Runs `body` in this process alone, without starting MPI, and returns the process's exit status. Exceptions are
/// printed and end the process with status 2 (RequestError) or 1.
int run_guarded_alone(const std::function<ExitStatus()>& body);

}  // namespace convoy::mpi
