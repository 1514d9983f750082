/// Escapes text, and estimates its width without a font.
#include "convoy/base/svg.h"

#include "convoy/base/wording.h"

namespace convoy {

std::string svg_escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    safe += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return safe;
}

double svg_text_width(std::string_view text) {
  constexpr double kFontPixels = 12;
  constexpr double kMeanLetter = 0.6;  // of the font's size: DejaVu Sans, the widest of the usual fonts, has 0.58
  return kMeanLetter * kFontPixels * static_cast<double>(num_letters(text));
}

}  // namespace convoy
