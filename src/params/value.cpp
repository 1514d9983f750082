/// Reading and writing the types. All numbers go through from_chars and fmt: no locale, and back to the same bits.
#include "params/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy::params {

namespace {

/// "a.cfg:3: batch.global = 12x is not an integer. Allowed: 1 to 1024 samples."
[[noreturn]] void refuse_value(const Given& given, std::string_view complaint, const std::string& allowed,
                               const std::string& hint = "") {
  const bool has_comment = given.value.find_first_of("#;") != std::string::npos;
  refuse("{}: {} = {} {}. Allowed: {}{}{}.{}{}", given.where, given.key, shown(given.value), complaint, allowed,
         given.unit.empty() ? "" : " ", given.unit, hint,
         has_comment ? " A comment in a parameter file needs a blank before its # or ;." : "");
}

struct Parsed {
  bool is_number = false;  ///< all of the text is one
  bool fits = false;       ///< into the type
};

template <typename T>
Parsed parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size() && error != std::errc::invalid_argument;
  return {.is_number = whole, .fits = error == std::errc()};
}

template <typename T>
T read_integer(const Given& given, std::string_view text, T least, T most, const std::string& allowed) {
  T value = 0;
  const Parsed parsed = parse(text, value);
  // An unsigned integer does not parse "-1", which is an integer nevertheless.
  std::int64_t negative = 0;
  if (!parsed.is_number && !parse(text, negative).is_number) refuse_value(given, "is not an integer", allowed);
  if (!parsed.is_number || !parsed.fits || value < least || value > most) {
    refuse_value(given, "is out of range", allowed);
  }
  return value;
}

bool contains(const Range& range, double value) {
  if (!std::isfinite(value)) return false;
  const bool low = range.above_least ? value > range.least : value >= range.least;
  const bool high = range.below_most ? value < range.most : value <= range.most;
  return low && high;
}

double read_number(const Given& given, std::string_view text, const Range& range, const std::string& allowed) {
  double value = 0;
  const Parsed parsed = parse(text, value);
  if (!parsed.is_number) refuse_value(given, "is not a number", allowed);
  if (!parsed.fits || !contains(range, value)) refuse_value(given, "is out of range", allowed);
  return value;
}

/// "0 to 1", "0 to below 1", "above 0, up to 1".
std::string to_string(const Range& range) {
  const std::string most = fmt::format("{}{}", range.below_most ? "below " : "", range.most);
  return range.above_least ? fmt::format("above {}, up to {}", range.least, most)
                           : fmt::format("{} to {}", range.least, most);
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

void check_text(const Given& given, const std::string& allowed) {
  if (std::any_of(given.value.begin(), given.value.end(), is_control)) {
    refuse_value(given, "has a control character", allowed);
  }
}

/// As nearest_hint(), of words and what else people call them.
std::string nearest_word_hint(const std::string& word, const std::vector<std::string>& words,
                              const std::vector<std::string>& synonyms) {
  std::vector<std::string> candidates = words;
  std::map<std::string, std::string> meant;
  for (std::size_t i = 0; i < synonyms.size(); ++i) {
    std::istringstream names(synonyms[i]);
    for (std::string name; names >> name; candidates.push_back(name)) meant[name] = words[i];
  }
  const std::string near = nearest(word, candidates);
  return nearest_hint(meant.contains(near) ? meant[near] : near, words);
}

Value text_or_empty(const Field<std::string>& field, const std::string& allowed) {
  return {.type = "text",
          .allowed = allowed,
          .may_be_empty = true,
          .read =
              [=](const Given& given, Parameters& p) {
                check_text(given, allowed);
                field.set(p, given.value);
              },
          .write = [=](const Parameters& p) { return field.get(p); }};
}

}  // namespace

Value integer(const Field<std::int64_t>& field, IntegerRange range) {
  const std::string allowed = fmt::format("{} to {}", range.least, range.most);
  return {
      .type = "integer",
      .allowed = allowed,
      .read = [=](const Given& given,
                  Parameters& p) { field.set(p, read_integer(given, given.value, range.least, range.most, allowed)); },
      .write = [=](const Parameters& p) { return fmt::format("{}", field.get(p)); }};
}

Value integer_or_auto(const Field<std::int64_t>& field, IntegerRange range) {
  const std::string allowed = fmt::format("auto, {} to {}", range.least, range.most);
  return {.type = "integer",
          .allowed = allowed,
          .read =
              [=](const Given& given, Parameters& p) {
                const bool is_auto = lower_case(given.value) == "auto";
                field.set(p, is_auto ? 0 : read_integer(given, given.value, range.least, range.most, allowed));
              },
          .write = [=](const Parameters& p) { return field.get(p) == 0 ? "auto" : fmt::format("{}", field.get(p)); }};
}

Value integers(const Field<std::vector<std::int64_t>>& field, IntegerRange range, const std::string& none) {
  const std::string allowed =
      fmt::format("{}a, b, ..., each {} to {}", none.empty() ? "" : none + "; ", range.least, range.most);
  return {.type = "integers",
          .allowed = allowed,
          .may_be_empty = none.empty(),
          .read =
              [=](const Given& given, Parameters& p) {
                std::vector<std::int64_t> values;
                if (lower_case(given.value) != none) {
                  for (const std::string& part : split_at_commas(given.value))
                    values.push_back(read_integer(given, part, range.least, range.most, allowed));
                }
                field.set(p, std::move(values));
              },
          .write =
              [=](const Parameters& p) {
                return field.get(p).empty() ? none : fmt::format("{}", fmt::join(field.get(p), ", "));
              }};
}

Value any_uint64(const Field<std::uint64_t>& field) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::string allowed = fmt::format("0 to {}", kMost);
  return {
      .type = "integer",
      .allowed = allowed,
      .read = [=](const Given& given,
                  Parameters& p) { field.set(p, read_integer<std::uint64_t>(given, given.value, 0, kMost, allowed)); },
      .write = [=](const Parameters& p) { return fmt::format("{}", field.get(p)); }};
}

Value number(const Field<double>& field, Range range) {
  const std::string allowed = to_string(range);
  return {
      .type = "number",
      .allowed = allowed,
      .read = [=](const Given& given, Parameters& p) { field.set(p, read_number(given, given.value, range, allowed)); },
      .write = [=](const Parameters& p) { return fmt::format("{}", field.get(p)); }};
}

Value numbers(const Field<std::vector<double>>& field, Range range) {
  const std::string allowed = fmt::format("a, b, ..., each {}", to_string(range));
  return {.type = "numbers",
          .allowed = allowed,
          .may_be_empty = true,
          .read =
              [=](const Given& given, Parameters& p) {
                std::vector<double> values;
                if (!given.value.empty()) {
                  for (const std::string& part : split_at_commas(given.value)) {
                    values.push_back(read_number(given, part, range, allowed));
                  }
                }
                field.set(p, std::move(values));
              },
          .write = [=](const Parameters& p) { return fmt::format("{}", fmt::join(field.get(p), ", ")); }};
}

Value flag(const Field<bool>& field) {
  static const std::vector<std::string> kWords = {"true", "false", "on", "off", "yes", "no", "1", "0"};
  return {.type = "flag",
          .allowed = "true, false",
          .read =
              [=](const Given& given, Parameters& p) {
                field.set(p, read_word(given, kWords) % 2 == 0);  // every second word says no
              },
          .write = [=](const Parameters& p) { return std::string(field.get(p) ? "true" : "false"); }};
}

Value texts(const Field<std::vector<std::string>>& field, const std::string& allowed) {
  return {.type = "texts",
          .allowed = allowed,
          .may_be_empty = true,
          .read =
              [=](const Given& given, Parameters& p) {
                check_text(given, allowed);
                std::vector<std::string> values;
                if (!given.value.empty()) values = split_at_commas(given.value);
                if (std::find(values.begin(), values.end(), "") != values.end())
                  refuse_value(given, "has nothing beside a comma", allowed);
                field.set(p, std::move(values));
              },
          .write = [=](const Parameters& p) { return join(field.get(p)); }};
}

Value text(const Field<std::string>& field, const std::string& allowed) {
  Value value = text_or_empty(field, allowed);
  value.may_be_empty = false;
  value.read = [allowed, read = value.read](const Given& given, Parameters& p) {
    if (given.value.empty()) refuse_value(given, "is empty", allowed);
    read(given, p);
  };
  return value;
}

Value lower_case_text(const Field<std::string>& field, const std::string& allowed) {
  Value value = text(field, allowed);
  value.read = [read = value.read](Given given, Parameters& p) {
    given.value = lower_case(given.value);
    read(given, p);
  };
  return value;
}

Value path(const Field<std::string>& field, const std::string& written) {
  Value value = text(field, "a path");
  value.is_path = true;
  value.written = written;
  return value;
}

Value path_or_empty(const Field<std::string>& field, const std::string& written) {
  Value value = text_or_empty(field, "a path");
  value.is_path = true;
  value.written = written;
  return value;
}

Value word(const Field<std::string>& field, const std::vector<std::string>& words) {
  return {.type = "choice",
          .allowed = join(words),
          .read = [=](const Given& given, Parameters& p) { field.set(p, words[read_word(given, words)]); },
          .write = [=](const Parameters& p) { return field.get(p); }};
}

Value word_or_path(const Field<std::string>& field, const std::vector<std::string>& words, const std::string& path) {
  Value value = text(field, fmt::format("{}, or {}", join(words), path));
  value.is_path = true;
  value.read = [=, allowed = value.allowed, read = value.read](Given given, Parameters& p) {
    const std::string lower = lower_case(given.value);
    const bool is_word = std::find(words.begin(), words.end(), lower) != words.end();
    const bool is_path = given.value.find_first_of("/.") != std::string::npos;
    if (!is_word && !is_path)
      refuse_value(given, "is neither", allowed + " with a '/' or a '.'", nearest_hint(lower, words));
    if (is_word) given.value = lower;
    read(given, p);
  };
  return value;
}

std::size_t read_word(const Given& given, const std::vector<std::string>& words,
                      const std::vector<std::string>& synonyms) {
  const std::string word = lower_case(given.value);
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end())
    refuse_value(given, "is none of its choices", join(words), nearest_word_hint(word, words, synonyms));
  return static_cast<std::size_t>(found - words.begin());
}

std::string join(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string shown(std::string_view value) {
  constexpr std::size_t kMost = 60;
  if (value.empty()) return "(nothing)";
  std::string result(value.substr(0, kMost));
  std::replace_if(result.begin(), result.end(), is_control, '?');
  return value.size() > kMost ? result + "..." : result;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1));
}

std::string nearest_hint(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format(" Nearest: {}.", near);
}

}  // namespace convoy::params
