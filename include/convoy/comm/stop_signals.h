/// The signals that ask a run to stop, which are caught before the run opens anything and checked at the end of a step;
/// and the signals of a crash.
#pragma once

#include "convoy/base/error.h"

namespace convoy {

/// Makes SIGTERM, SIGUSR1 and SIGINT (Ctrl-C) ask for a stop, until the process ends: launchers repeat SIGTERM while
/// ranks that were asked to stop are leaving. A SIGINT that comes a second or more after the first kills. srun passes
/// SIGTERM and SIGUSR1 on; mpirun passes SIGUSR1 on, and ends with a status of its own after SIGTERM. If `says_so`, the
/// first signal is answered by a line on standard error.
void catch_stop_signals(bool says_so);

/// Whether a signal that asks for a stop (SIGTERM, SIGUSR1, SIGINT) has come to this rank.
bool stop_is_requested();

/// Whether SIGTERM has come to this rank. A launcher sends it before a job ends: it was asked to stop the job, or a
/// rank has died.
bool is_terminated();

/// Makes a crash (SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL) end this process with `status` from here on. Called when
/// the run has ended already, and this rank's memory is known to be damaged.
void end_crashes_with(ExitStatus status);

}  // namespace convoy
