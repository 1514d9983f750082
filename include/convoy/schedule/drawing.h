/// Draws steps as a picture: which rank works on what, and which rank waits for which.
#pragma once

#include <string>
#include <vector>

#include "convoy/schedule/timeline.h"

namespace convoy {

/// One step of several ranks: a group of rows of the picture.
struct Panel {
  std::string title;
  std::string note;                          ///< line below the title; empty: no line
  Timeline step;                             ///< timeline of a single step (num_steps = 1)
  std::vector<std::vector<IdleSlice>> idle;  ///< waits in the step, by rank, as divide_idle() returns them
};

/// Returns an SVG picture without scripts. The panels are one below the other on one scale of time, each of which
/// begins at its first instruction, with a row per rank (of large grids the first 32). Work is a box, a wait is a line
/// at the bottom of the row; a box shows the index of its micro-batch if it fits. Boxes that are too narrow to be seen
/// are merged with their neighbours into a stack, in which each kind of work is as high as its share. The colours are
/// those of Okabe & Ito 2002, which colour-blind people can tell apart.
std::string draw(const std::vector<Panel>& panels);

}  // namespace convoy
