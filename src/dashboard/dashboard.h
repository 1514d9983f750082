/// convoy watch: draws a run again and again, using only its files.
#pragma once

#include <string>

#include "convoy/base/error.h"

namespace convoy {

/// Draws the run in that directory at least every two seconds until q or Ctrl-C is pressed. Draws it only once if
/// `once` is set, or if standard input or output is not a terminal. Throws RequestError if the directory holds no run
/// that has begun.
ExitStatus watch_run(const std::string& directory, bool once);

}  // namespace convoy
