/// Checks that the texts of a picture are inside it.
#pragma once

#include <regex>
#include <string>

namespace convoy::test {

/// The first text of the SVG that is cut by the picture's right edge or is below it; empty if all can be read. Texts
/// have 12 pixels and are anchored at their start. A letter of DejaVu Sans is 7 pixels wide on average.
inline std::string text_outside(const std::string& svg) {
  constexpr double kLetter = 7;
  const std::regex size("width=\"([0-9.]+)\" height=\"([0-9.]+)\""),
      text("<text x=\"([0-9.]+)\" y=\"([0-9.]+)\" text-anchor=\"start\">([^<]*)<");
  std::smatch found;
  if (!std::regex_search(svg, found, size)) return "no size";
  const double width = std::stod(found[1]), height = std::stod(found[2]);
  for (std::sregex_iterator i(svg.begin(), svg.end(), text), end; i != end; ++i) {
    std::string words = (*i)[3];
    if (std::stod((*i)[1]) + kLetter * static_cast<double>(words.size()) > width || std::stod((*i)[2]) > height)
      return words;
  }
  return "";
}

}  // namespace convoy::test
