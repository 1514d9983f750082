/// Draws the layers of one cell, from top to bottom: the part of a network's picture that shows a kind of cell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/shape.h"
#include "convoy/model/network_list.h"

namespace convoy {

/// The sizes of one sample's value as pictures show them, without those that are 1: "56 × 56 × 256", "1000".
std::string shown_sizes(const Shape& shape);

/// Returns a text in a picture, with its class of the style sheet.
std::string drawn_text(std::string_view css_class, int x, int y, std::string_view text);

/// A drawing whose upper left corner is at (0, 0), in pixels.
struct Drawing {
  std::string svg;
  int width = 0, height = 0;
};

/// Draws a cell. `shapes` are those of its values, by their numbers (CellList). The longest chain of layers is the
/// first column; other branches are next to it. An edge to or from a branch, and one past other layers of its column,
/// such as a residual connection, is a curve. Uses classes of the style sheet of draw_network().
Drawing draw_cell(const CellList& cell, const std::vector<Shape>& shapes);

}  // namespace convoy
