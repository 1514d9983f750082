/// Regular plurals, and numbers without exponents.
#include "convoy/base/wording.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace convoy {

namespace {

std::string plural(std::string_view one) {
  if (one.ends_with("epoch")) return fmt::format("{}s", one);  // its "ch" is no hiss
  for (const std::string_view hiss : {"s", "x", "ch", "sh"})
    if (one.ends_with(hiss)) return fmt::format("{}es", one);
  constexpr std::string_view kVowels = "aeiou";
  const bool has_ies = one.size() > 1 && one.back() == 'y' && kVowels.find(one[one.size() - 2]) == std::string::npos;
  return has_ies ? fmt::format("{}ies", one.substr(0, one.size() - 1)) : fmt::format("{}s", one);
}

bool begins_letter(char c) {  // of UTF-8
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

}  // namespace

std::string shown_ranges(const std::vector<NumberRange>& ranges) {
  constexpr std::size_t kMaxShown = 4;
  std::string text;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (i == kMaxShown) return text + ", ...";
    const auto& [first, last] = ranges[i];
    text += fmt::format("{}{}", i == 0 ? "" : ", ", first);
    if (last > first) text += fmt::format(" to {}", last);
  }
  return text;
}

std::int64_t num_letters(std::string_view text) {
  return std::ranges::count_if(text, begins_letter);
}

std::string counted(std::int64_t count, std::string_view one) {
  return count == 1 ? fmt::format("1 {}", one) : fmt::format("{} {}", count, plural(one));
}

std::string first_few(const std::vector<std::string>& names, std::size_t count) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), count));
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "), end == names.end() ? "" : ", ...");
}

std::string counted_range(std::int64_t first, std::int64_t last, std::string_view one) {
  return first == last ? fmt::format("{} {}", one, first) : fmt::format("{} {} to {}", plural(one), first, last);
}

std::string plain_number(double value, int digits) {
  constexpr double kMin = 1e-6, kMax = 1e15;
  if (std::isnan(value)) return "nan";
  const double size = std::abs(value);
  if (value != 0 && (size < kMin || size >= kMax)) return fmt::format("{:.{}g}", value, digits);
  const int before_point = value == 0 ? 1 : static_cast<int>(std::floor(std::log10(size))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, digits - before_point));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string cut_to(std::string_view line, int columns, std::string_view ellipsis) {
  if (num_letters(line) <= columns) return std::string(line);
  std::int64_t left = columns - num_letters(ellipsis);
  std::size_t end = 0;
  while (end < line.size() && (left > 0 || !begins_letter(line[end]))) {
    if (begins_letter(line[end])) --left;
    ++end;
  }
  return fmt::format("{}{}", line.substr(0, end), ellipsis);
}

}  // namespace convoy
