/// Processes and threads of this host: their state as Linux knows it, their signals, and the end of the launcher.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "watchdog/roll_call.h"

namespace convoy {

/// Returns the state of a process of this host: kStopped, kTraced or kEnded; kSilent if it runs, or if its state cannot
/// be read. `process` is its process ID.
Reach state_of_process(std::int64_t process);

/// Returns a text that names the host, its last boot and the PID namespace (container) of this process. Two processes
/// get the same text if each sees the other under the same process ID.
std::string process_space();

/// Blocks all signals in the calling thread. Every thread except the main thread calls it, so that only the main thread
/// handles signals.
void block_signals();

/// Called before this process ends because the run makes no progress. If its parent process is Open MPI's mpirun, or
/// its daemon on another node, and has not ended by itself after `patience`, a child process kills it: mpirun otherwise
/// waits for its daemons on nodes that it cannot reach, long after all ranks have ended. Does not wait.
void end_launcher_after(std::chrono::milliseconds patience) noexcept;

}  // namespace convoy
