/// Steps as a picture for people: which rank works on what, and which rank waits for which.
#pragma once

#include <string>
#include <vector>

#include "convoy/schedule/timeline.h"

namespace convoy {

/// A group of rows of one picture: one step of several ranks.
struct Panel {
  std::string title;
  std::string note;                          ///< a line below the title; empty: none
  Timeline step;                             ///< a single step: num_steps = 1
  std::vector<std::vector<IdleSlice>> idle;  ///< the waits of the step, by rank, as divide_idle() returns them
};

/// Returns an SVG without scripts: the panels one below the other on one scale of time, each from its own first begin,
/// with a row per rank (of large grids the first 32). Work is a box, waiting a line at the foot of the row; boxes show
/// the number of their micro-batch if it fits. Pieces that are too short to be seen are merged with their neighbours
/// into a stack, each kind as high as its share. The colours are those of Okabe & Ito 2002, which colour-blind people
/// can tell apart.
std::string draw(const std::vector<Panel>& panels);

}  // namespace convoy
