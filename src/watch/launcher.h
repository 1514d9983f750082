/// Ends the launcher of a job that has ended: Open MPI's mpirun otherwise waits for its daemons on nodes that it cannot
/// reach, long after all ranks have ended.
#pragma once

#include <chrono>

namespace convoy {

/// Called before this process ends because the run makes no progress. If its parent process is Open MPI's mpirun, or
/// its daemon on another node, and has not ended by itself after `patience`, a child process kills it. Does not wait.
void end_launcher_after(std::chrono::milliseconds patience) noexcept;

}  // namespace convoy
