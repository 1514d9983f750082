/// Parses a line of numbers, word by word.
#include "plan/parse_numbers.h"

#include <charconv>
#include <sstream>

#include "convoy/base/error.h"

namespace convoy {

std::vector<double> parse_numbers(const std::string& line, std::size_t count, const NumberLimits& range) {
  std::istringstream words(line);
  std::vector<double> numbers;
  for (std::string word; words >> word;) {
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool is_number = error == std::errc() && end == word.data() + word.size();
    if (!is_number || !(number >= range.min && number <= range.max))
      fail("'{}' is not a number from {:g} to {:g}", word, range.min, range.max);
    numbers.push_back(number);
  }
  if (numbers.size() != count) fail("'{}' does not have {} numbers", line, count);
  return numbers;
}

}  // namespace convoy
