/// Formatting for people, and the edit distance behind "did you mean".
#include "convoy/base/text.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>

#include <fmt/format.h>

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

// One decimal in the largest unit that leaves at least 1; what would be printed as a full next unit is that unit.
std::string in_units(std::int64_t number, std::int64_t step, std::initializer_list<const char*> units) {
  auto value = static_cast<double>(number) / static_cast<double>(step);
  auto unit = units.begin();
  while (value >= static_cast<double>(step) - 0.05 && unit + 1 != units.end())
    value /= static_cast<double>(step), ++unit;
  return fmt::format("{:.1f} {}", value, *unit);
}

}  // namespace

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

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

}  // namespace convoy
