/// Text in pictures that are written as SVG.
#pragma once

#include <string>
#include <string_view>

namespace convoy {

/// The text as it may stand between two tags.
std::string svg_escaped(std::string_view text);

/// Pixels that a line of text takes at most, in the usual fonts without serifs: a picture must be as wide.
double svg_text_width(std::string_view text, double font_pixels = 12);

}  // namespace convoy
