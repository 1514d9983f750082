/// Prepares text for SVG pictures.
#pragma once

#include <string>
#include <string_view>

namespace convoy {

/// Returns the text with &, < and > escaped, to be put between two tags.
std::string svg_escaped(std::string_view text);

/// Returns an upper bound of the width of a line of text in pixels, in the usual sans-serif fonts, so that a picture
/// can be made wide enough.
double svg_text_width(std::string_view text);

}  // namespace convoy
