/// A run as text: what convoy watch prints.
#pragma once

#include <optional>
#include <string>

#include "dashboard/run_reader.h"

namespace convoy {

/// The terminal that is drawn on.
struct Style {
  int columns = 80;
  int lines = 0;  ///< 0: as many as it takes
  bool colour = false;
  bool unicode = true;
};

/// When, and of which run.
struct Scene {
  std::string directory;
  double now = 0;                 ///< seconds since 1970
  std::optional<bool> is_locked;  ///< as RunReader has it
};

/// No line is longer than the terminal is wide. Of many ranks, those that compute longest come first and the others
/// are counted.
std::string draw(const WatchedRun& run, const Scene& scene, const Style& style);

}  // namespace convoy
