/// What Linux knows of processes and threads.
#pragma once

#include <cstdint>

#include "watch/roll_call.h"

namespace convoy {

/// What a process on this host does: kStopped, kTraced, kEnded; kSilent where it runs.
Reach state_of_process(std::int64_t process);

/// Called in each thread other than the main one, which alone takes the program's signals.
void block_signals();

}  // namespace convoy
