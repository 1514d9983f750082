/// Handles the signals that ask a run to stop, which are caught from the program's start and checked at the end of each
/// step, and the signals of a crash.
#pragma once

#include "convoy/base/error.h"

namespace convoy {

/// Makes SIGTERM, SIGUSR1 and SIGINT (Ctrl-C) request a stop instead of killing the process, until it ends: launchers
/// repeat SIGTERM while ranks are already stopping. A SIGINT that comes a second or more after the first kills the
/// process. srun passes SIGTERM and SIGUSR1 on to the ranks; mpirun passes SIGUSR1 on, and after SIGTERM it returns an
/// exit status of its own. If `says_so`, the first signal is answered by a line on standard error.
void catch_stop_signals(bool says_so);

/// Whether this rank has received a signal that requests a stop (SIGTERM, SIGUSR1, SIGINT).
bool stop_is_requested();

/// Whether this rank has received SIGTERM. A launcher sends it before a job ends: it was asked to stop the job, or a
/// rank has died.
bool is_terminated();

/// From now on, makes a crash (SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL) end this process with `status`. Called when
/// the run has ended already, and this rank's memory is known to be damaged.
void end_crashes_with(ExitStatus status);

}  // namespace convoy
