/// What Linux knows of processes and threads.
#pragma once

#include <cstdint>

#include "watch/roll_call.h"

namespace convoy {

/// Of a process on this host: kStopped, kTraced, kEnded; kSilent where it runs.
Reach state_of_process(std::int64_t process);

/// For threads beside the one that works: the program's signals are for that one.
void block_signals();

}  // namespace convoy
