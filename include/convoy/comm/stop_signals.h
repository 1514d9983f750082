/// The signals that ask a run to stop: caught before the run opens anything, and checked at the end of a step. And
/// those of a crash.
#pragma once

#include "convoy/base/error.h"

namespace convoy {

/// SIGTERM, SIGUSR1 and SIGINT (Ctrl-C; one that comes a second or more after the first kills) ask for a stop, from now
/// on to the end of the process: launchers repeat SIGTERM while ranks that were asked to stop are leaving. srun passes
/// both on; mpirun passes SIGUSR1 on, and ends with a status of its own after SIGTERM. The first one is answered by a
/// line on standard error where this rank `says_so`.
void catch_stop_signals(bool says_so);

/// Whether one of them has come to this rank.
bool stop_is_requested();

/// Whether SIGTERM has: a launcher sends it before a job ends, be it asked to leave or because a rank has died.
bool is_terminated();

/// From here on a crash (SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL) ends this process with that status: the run has
/// ended already, and what this rank holds is known to be damaged.
void end_crashes_with(ExitStatus status);

}  // namespace convoy
