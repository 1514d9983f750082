/// Draws the text that convoy watch prints, and curves in one line of text.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "dashboard/run_reader.h"

namespace convoy {

/// Divides the values into `columns` equal parts and returns one character for the mean of each part. Its height is one
/// of eight, from the smallest to the largest mean: block characters or, without `unicode`, ASCII characters. Infinite
/// values and NaN are left out.
std::string sparkline(std::span<const double> values, int columns, bool unicode);

/// The properties of the terminal.
struct Style {
  int columns = 80;
  int lines = 0;  ///< height of the terminal; 0: no limit
  bool colour = false;
  bool unicode = true;
};

/// The run directory, and the moment at which it is drawn.
struct Scene {
  std::string directory;
  double now = 0;                 ///< time in seconds since 1970
  std::optional<bool> is_locked;  ///< result of io::is_locked(): whether the run's process still runs
};

/// Returns the text. No line is longer than the terminal is wide. If there are many ranks, it shows those with the
/// longest computing time per step and counts the others.
std::string draw(const WatchedRun& run, const Scene& scene, const Style& style);

}  // namespace convoy
