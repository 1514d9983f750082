/// Reads measured numbers from a line of text; numbers out of range are refused.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace convoy {

struct NumberRange {
  double min = 0, max = 0;
};

/// `count` numbers with spaces between them. Throws Error, naming what is there, where they are more or fewer, or one
/// is not a number or lies outside the range.
std::vector<double> parse_numbers(const std::string& line, std::size_t count, const NumberRange& range);

}  // namespace convoy
