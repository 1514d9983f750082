/// Escapes text, and estimates its width without a font.
#include "convoy/base/svg.h"

#include "convoy/base/wording.h"

namespace convoy {

std::string svg_escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else {
      safe += c;
    }
  }
  return safe;
}

double svg_text_width(std::string_view text, double font_pixels) {
  constexpr double kMeanLetter = 0.6;  // of the font's size: DejaVu Sans, the widest of the usual fonts, has 0.58
  return kMeanLetter * font_pixels * static_cast<double>(num_letters(text));
}

}  // namespace convoy
