/// Open MPI's mpirun waits for daemons on nodes that it cannot reach, long after all ranks have ended.
#pragma once

#include <chrono>

namespace convoy {

/// Called before this process ends because the run stands still. If its parent is a process of Open MPI (mpirun, or its
/// daemon on another node), and that has not ended by itself after `patience`, it is killed. Does not wait.
void end_launcher_after(std::chrono::milliseconds patience) noexcept;

}  // namespace convoy
