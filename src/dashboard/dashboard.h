/// convoy watch: draws a run again and again, from its files alone.
#pragma once

#include <string>

#include "convoy/base/error.h"

namespace convoy {

/// Draws the run of that directory every two seconds until q or Ctrl-C; once where `once` is asked for, and where
/// standard input or output is no terminal. Throws RequestError where there is no such run.
ExitStatus watch_run(const std::string& directory, bool once);

}  // namespace convoy
