/// The command convoy watch: draws a run again and again, and reads only its files.
#pragma once

#include <string>

#include "convoy/base/error.h"

namespace convoy {

/// Draws the run in this directory at least every two seconds, until the user presses q or Ctrl-C. Draws it only once
/// if `once` is set, or if standard input or output is not a terminal. Throws RequestError if the directory has no run
/// that has begun.
ExitStatus watch_run(const std::string& directory, bool once);

}  // namespace convoy
