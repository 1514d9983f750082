/// Whether the texts of a picture lie inside it.
#pragma once

#include <regex>
#include <string>

namespace convoy::test {

/// The first text of the SVG, of 12 pixels and anchored at its start, that is cut by the picture's right edge or lies
/// below it; empty where all can be read. A letter of DejaVu Sans is 7 pixels wide in the mean.
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
