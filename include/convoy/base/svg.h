/// Text in SVG pictures.
#pragma once

#include <string>
#include <string_view>

namespace convoy {

/// The text with &, < and > escaped, to be put between two tags.
std::string svg_escaped(std::string_view text);

/// The maximal width of a line of text in pixels, in the usual fonts without serifs: a picture must be at least as
/// wide.
double svg_text_width(std::string_view text, double font_pixels = 12);

}  // namespace convoy
