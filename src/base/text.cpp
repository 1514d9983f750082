/// Formatting for people, and the edit distance for "did you mean".
#include "convoy/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <numeric>

#include <fmt/core.h>

#include "convoy/base/error.h"

namespace convoy {

namespace {

std::int64_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t diagonal = row[0];
    row[0] = static_cast<std::int64_t>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::int64_t substitute = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substitute});
    }
  }
  return row.back();
}

// One decimal in the largest unit in which the number is at least 1; a number that would be printed as a full next unit
// gets that unit.
std::string in_units(std::int64_t number, std::int64_t step, std::initializer_list<const char*> units) {
  auto value = static_cast<double>(number) / static_cast<double>(step);
  auto unit = units.begin();
  while (value >= static_cast<double>(step) - 0.05 && unit + 1 != units.end())
    value /= static_cast<double>(step), ++unit;
  return fmt::format("{:.1f} {}", value, *unit);
}

// Unicode's marks of direction, with which a name can be made to look like another, and its separators of lines.
bool turns_direction(std::string_view text) {
  constexpr std::string_view kMarks[] = {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b",
                                         "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"};
  return std::ranges::any_of(kMarks, [text](std::string_view mark) { return text.starts_with(mark); });
}

// Number of bytes of the UTF-8 character at the front that may be shown; 0 for a control character and for other bytes.
std::size_t visible_bytes(std::string_view text) {
  const auto byte = [text](std::size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  // Neither longer than it must be, nor half of a pair of UTF-16, nor beyond the last character.
  const unsigned second = byte(1);
  const bool is_wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  if (is_wrong) return 0;
  const bool is_control = first == 0xc2 && byte(1) < 0xa0;
  return is_control || turns_direction(text) ? 0 : length;
}

bool is_formula(std::string_view text) {
  if (text.size() < 2 || std::string_view("=+-@").find(text.front()) == std::string_view::npos) return false;
  const std::string_view digits = text.substr(text.front() == '+' ? 1 : 0);  // from_chars takes no plus
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc::invalid_argument || end != digits.data() + digits.size();
}

std::string escaped(char c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
}

}  // namespace

std::string excerpt(std::string_view content) {
  constexpr int kMaxCharacters = 200;
  std::string shown;
  int num_shown = 0;
  while (!content.empty()) {
    const std::size_t bytes = visible_bytes(content);
    const std::string next = bytes > 0 ? std::string(content.substr(0, bytes)) : escaped(content.front());
    num_shown += bytes > 0 ? 1 : static_cast<int>(next.size());
    if (num_shown > kMaxCharacters) return shown + "...";
    shown += next;
    content.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return shown;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t bytes = c == '\n' || c == '\t' ? 1 : visible_bytes(text);
    if (bytes > 0)
      shown += text.substr(0, bytes);
    else
      shown += escaped(c);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return shown;
}

void check_is_name(std::string_view name, const char* what) {
  if (printable(name) == name && name.find_first_of("\n\t") == std::string_view::npos) return;
  fail("{} contains control characters, Unicode direction marks or bytes that are not UTF-8: '{}'", what,
       excerpt(name));
}

std::string human_bytes(std::int64_t bytes) {
  return bytes < 1024 ? fmt::format("{} B", bytes) : in_units(bytes, 1024, {"KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string human_count(std::int64_t count) {
  return count < 1000 ? fmt::format("{}", count) : in_units(count, 1000, {"k", "M", "G", "T"});
}

std::string human_seconds(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "?";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  auto best_distance = static_cast<std::int64_t>(word.size()) / 2 + 1;
  for (const std::string& candidate : candidates) {
    const std::int64_t distance = edit_distance(word, candidate);
    if (distance < best_distance) best_distance = distance, best = candidate;
  }
  if ((!best.empty() && best_distance <= 1) || word.empty()) return best;
  // A word that was cut off ("pred") is likelier than two slips ("grid"), but not than one.
  const auto begun = [word](const std::string& candidate) { return candidate.starts_with(word); };
  const auto found = std::find_if(candidates.begin(), candidates.end(), begun);
  return found == candidates.end() ? best : *found;
}

std::string_view without_apostrophe(std::string_view field) {
  const bool has_one = field.starts_with('\'') && is_formula(field.substr(1));
  return field.substr(has_one ? 1 : 0);
}

std::string csv_field(std::string_view text) {
  if (is_formula(text)) return csv_field("'" + std::string(text));
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

}  // namespace convoy
