/// What Linux knows of processes and threads.
#pragma once

#include <cstdint>
#include <string>

#include "watch/roll_call.h"

namespace convoy {

/// What a process on this host does: kStopped, kTraced, kEnded; kSilent if it runs, or if its state cannot be read.
Reach state_of_process(std::int64_t process);

/// Names the space in which numbers of processes mean the same as for this process: this system since its start, and in
/// it this container. Two processes get the same text if they see each other under the same numbers.
std::string process_space();

/// Called in each thread other than the main one, which alone takes the program's signals.
void block_signals();

}  // namespace convoy
