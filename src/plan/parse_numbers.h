/// Reads measured numbers from a line of text, and refuses numbers out of range.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace convoy {

struct NumberLimits {
  double min = 0, max = 0;
};

/// Returns the `count` numbers of a line, which are separated by spaces. Throws Error with the text found if there are
/// more or fewer, or if one is not a number or lies outside the range.
std::vector<double> parse_numbers(const std::string& line, std::size_t count, const NumberLimits& range);

}  // namespace convoy
