/// Draws a run as the text that convoy watch prints.
#pragma once

#include <optional>
#include <string>

#include "dashboard/run_reader.h"

namespace convoy {

/// The properties of the terminal.
struct Style {
  int columns = 80;
  int lines = 0;  ///< height of the terminal; 0: not limited
  bool colour = false;
  bool unicode = true;
};

/// The directory of the run, and the moment at which it is drawn.
struct Scene {
  std::string directory;
  double now = 0;                 ///< seconds since 1970
  std::optional<bool> is_locked;  ///< the result of io::is_locked()
};

/// Returns the picture. No line is longer than the terminal is wide. Of many ranks, those that compute longest are
/// shown and the others are counted.
std::string draw(const WatchedRun& run, const Scene& scene, const Style& style);

}  // namespace convoy
