/// Steps as a picture for people: who works on what, and who waits for whom.
#pragma once

#include <string>
#include <vector>

#include "convoy/schedule/timeline.h"

namespace convoy {

/// Rows of one picture: one step of some ranks.
struct Panel {
  std::string title;
  std::string note;  ///< a line below the title; empty: none
  Timeline step;     ///< num_steps = 1
  std::vector<std::vector<IdleSlice>> idle;
};

/// An SVG without scripts: the panels one below the other on one scale of time, each from its own first begin; a row
/// per rank (of large grids the first ones). Work is a box, waiting a line below it; boxes hold their micro-batch's
/// number where there is room. What is too short to be seen is drawn together with its neighbours: a stack, each kind
/// as high as its share. Colours: Okabe & Ito 2002, which people of all kinds of sight tell apart.
std::string draw(const std::vector<Panel>& panels);

}  // namespace convoy
