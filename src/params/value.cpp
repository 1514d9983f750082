/// Reads and writes the types. All numbers go through from_chars and fmt: independent of the locale, and back to the
/// same bits.
#include "params/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy::params {

namespace {

/// Throws RequestError: "a.cfg:3: batch.global = 12x is not an integer. Allowed: 1 to 1024 samples."
[[noreturn]] void refuse_value(const Given& given, std::string_view complaint, const std::string& hint = "") {
  const bool has_comment = given.value.find_first_of("#;") != std::string::npos;
  refuse("{}: {} = {} {}. Allowed: {}{}{}.{}{}", given.where, given.key, shown(given.value), complaint, given.allowed,
         given.unit.empty() ? "" : " ", given.unit, hint,
         has_comment ? " In a parameter file, a comment needs a space before its # or ;." : "");
}

struct Parsed {
  bool is_number = false;  ///< whether all of the text is a number
  bool fits = false;       ///< whether the type can hold it
};

template <typename T>
Parsed parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size() && error != std::errc::invalid_argument;
  return {.is_number = whole, .fits = error == std::errc()};
}

// A hint for several values such as "0.1,0.02", which some keys of convoy plan accept.
std::string several_values_hint(std::string_view text) {
  if (text.find(',') == std::string_view::npos) return "";
  return " Give one number. To try several, start a run for each (jobs/parameter_files.sh).";
}

template <typename T>
T read_integer(const Given& given, std::string_view text, T min, T max) {
  T value = 0;
  const Parsed parsed = parse(text, value);
  // "-1" does not parse as an unsigned integer, but it is an integer.
  std::int64_t negative = 0;
  if (!parsed.is_number && !parse(text, negative).is_number)
    refuse_value(given, "is not an integer", several_values_hint(text));
  if (!parsed.is_number || !parsed.fits || value < min || value > max) refuse_value(given, "is out of range");
  return value;
}

bool contains(const Range& range, double value) {
  if (!std::isfinite(value)) return false;
  const bool low = range.above_min ? value > range.min : value >= range.min;
  const bool high = range.below_max ? value < range.max : value <= range.max;
  return low && high;
}

double read_number(const Given& given, std::string_view text, const Range& range) {
  double value = 0;
  const Parsed parsed = parse(text, value);
  if (!parsed.is_number) refuse_value(given, "is not a number", several_values_hint(text));
  if (!parsed.fits || !contains(range, value)) refuse_value(given, "is out of range");
  return value;
}

/// A range as text: "0 to 1", "0 to below 1", "above 0, up to 1".
std::string to_string(const Range& range) {
  const std::string max = fmt::format("{}{}", range.below_max ? "below " : "", range.max);
  return range.above_min ? fmt::format("above {}, up to {}", range.min, max) : fmt::format("{} to {}", range.min, max);
}

std::vector<std::string> split(std::string_view text, char separator = ',') {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

/// Reads the extents of an array: "64, 64, 7" or "64 x 64 x 7".
std::vector<std::int64_t> read_extents(const Given& given, std::string_view text, IntegerRange range) {
  std::vector<std::int64_t> extents;
  for (const std::string& part : split(text, text.find(',') == std::string_view::npos ? 'x' : ','))
    extents.push_back(read_integer(given, part, range.min, range.max));
  return extents;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// Reads a text without control characters: one line.
std::string read_text(const Given& given) {
  if (std::any_of(given.value.begin(), given.value.end(), is_control)) {
    refuse_value(given, "has a control character");
  }
  return given.value;
}

std::string read_some_text(const Given& given) {
  if (given.value.empty()) refuse_value(given, "is empty");
  return read_text(given);
}

/// The hint of nearest_hint() for words and their synonyms.
std::string nearest_word_hint(const std::string& word, const Words& words) {
  std::vector<std::string> candidates = words.words;
  std::map<std::string, std::string> meant;
  for (std::size_t i = 0; i < words.synonyms.size(); ++i) {
    std::istringstream names(words.synonyms[i]);
    for (std::string name; names >> name; candidates.push_back(name)) meant[name] = words.words[i];
  }
  const std::string near = nearest(word, candidates);
  return nearest_hint(meant.contains(near) ? meant[near] : near, words.words);
}

/// The index of the word `part`, which is the whole given value or a part of it. Throws RequestError if it is unknown.
std::size_t index_of(const std::string& part, Given given, const char* complaint, const Words& words) {
  const std::string word = lower_case(part);
  const auto found = std::find(words.words.begin(), words.words.end(), word);
  if (found == words.words.end()) {
    given.allowed = join(words.words);
    refuse_value(given, complaint, nearest_word_hint(word, words));
  }
  return static_cast<std::size_t>(found - words.words.begin());
}

/// The Value of a list "a, b, c"; the word `none` means an empty list.
template <typename T, typename ReadItem>
Value list_of(const Field<std::vector<T>>& field, const std::string& type, const std::string& allowed,
              const ReadItem& read_item, const std::string& none = "") {
  const auto read = [=](const Given& given) {
    std::vector<T> items;
    if (lower_case(given.value) == none) return items;
    for (const std::string& part : split(given.value)) items.push_back(read_item(given, part));
    return items;
  };
  const auto write = [=](const std::vector<T>& items) {
    return items.empty() ? none : fmt::format("{}", fmt::join(items, ", "));
  };
  Value value = value_of(field, type, allowed, read, write);
  value.may_be_empty = none.empty();
  return value;
}

}  // namespace

Value integer(const Field<std::int64_t>& field, IntegerRange range) {
  return value_of(field, "integer", fmt::format("{} to {}", range.min, range.max),
                  [=](const Given& given) { return read_integer(given, given.value, range.min, range.max); });
}

Value any_uint64(const Field<std::uint64_t>& field) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  return value_of(field, "integer", fmt::format("0 to {}", kMax),
                  [](const Given& given) { return read_integer<std::uint64_t>(given, given.value, 0, kMax); });
}

Value integer_or_auto(const Field<std::int64_t>& field, IntegerRange range) {
  const auto read = [=](const Given& given) {
    return lower_case(given.value) == "auto" ? 0 : read_integer(given, given.value, range.min, range.max);
  };
  const auto write = [](std::int64_t value) { return value == 0 ? "auto" : fmt::format("{}", value); };
  return value_of(field, "integer", fmt::format("auto, {} to {}", range.min, range.max), read, write);
}

Value integers(const Field<std::vector<std::int64_t>>& field, IntegerRange range, const std::string& none) {
  const auto read_item = [=](const Given& given, const std::string& part) {
    return read_integer(given, part, range.min, range.max);
  };
  const std::string words = none.empty() ? "" : none + "; ";
  return list_of(field, "integers", fmt::format("{}a, b, ..., each {} to {}", words, range.min, range.max), read_item,
                 none);
}

Value integers_or_max(const Field<std::vector<std::int64_t>>& field, IntegerRange range) {
  constexpr const char* kMax = "max";
  const auto read = [=](const Given& given) {
    std::vector<std::int64_t> items;
    if (given.value.empty()) return items;
    for (const std::string& part : split(given.value))
      items.push_back(lower_case(part) == kMax ? kLargestThatFits : read_integer(given, part, range.min, range.max));
    return items;
  };
  const auto write = [=](const std::vector<std::int64_t>& items) {
    std::vector<std::string> texts;
    for (const std::int64_t item : items) texts.push_back(item == kLargestThatFits ? kMax : fmt::format("{}", item));
    return join(texts);
  };
  Value value =
      value_of(field, "integers", fmt::format("max; a, b, ..., each {} to {}", range.min, range.max), read, write);
  value.may_be_empty = true;
  return value;
}

Value number(const Field<double>& field, Range range) {
  return value_of(field, "number", to_string(range),
                  [=](const Given& given) { return read_number(given, given.value, range); });
}

Value numbers(const Field<std::vector<double>>& field, Range range) {
  return list_of(field, "numbers", fmt::format("a, b, ..., each {}", to_string(range)),
                 [=](const Given& given, const std::string& part) { return read_number(given, part, range); });
}

Value flag(const Field<bool>& field) {
  static const Words kWords{{"true", "false", "on", "off", "yes", "no", "1", "0"}};
  return value_of(field, "flag", "true, false", [](const Given& given) {
    return read_word(given, kWords) % 2 == 0;  // every second word means false
  });
}

Value texts(const Field<std::vector<std::string>>& field, const std::string& allowed) {
  return list_of(field, "texts", allowed, [](const Given& given, const std::string& part) {
    read_text(given);
    if (part.empty()) refuse_value(given, "has an empty item next to a comma");
    return part;
  });
}

Value rate_groups(const Field<std::vector<RateGroup>>& field, Range range) {
  const auto read = [=](const Given& given) {
    std::vector<RateGroup> groups;
    if (given.value.empty()) return groups;
    for (const std::string& part : split(given.value)) {
      const std::size_t colon = part.rfind(':');
      if (colon == std::string::npos || colon == 0) refuse_value(given, "is not a list of PATTERN: FACTOR");
      groups.push_back({.pattern = trimmed(part.substr(0, colon)),
                        .factor = read_number(given, trimmed(part.substr(colon + 1)), range)});
    }
    return groups;
  };
  const auto write = [](const std::vector<RateGroup>& groups) {
    std::vector<std::string> parts;
    for (const RateGroup& group : groups) parts.push_back(fmt::format("{}: {}", group.pattern, group.factor));
    return join(parts);
  };
  return or_empty(
      value_of(field, "groups", fmt::format("PATTERN: FACTOR, ..., each factor {}", to_string(range)), read, write));
}

Value array_forms(const Field<std::vector<ArrayForm>>& field, IntegerRange range) {
  const auto read = [=](const Given& given) {
    std::vector<ArrayForm> arrays;
    if (given.value.empty()) return arrays;
    if (given.value.find(':') == std::string::npos)
      return std::vector{ArrayForm{.name = "", .extents = read_extents(given, given.value, range)}};
    Given array = given;
    for (const std::string& part : split(given.value)) {
      array.value = part;
      const std::size_t colon = part.find(':');
      if (colon == std::string::npos || colon == 0) refuse_value(array, "has no name");
      arrays.push_back(
          {.name = trimmed(part.substr(0, colon)), .extents = read_extents(array, part.substr(colon + 1), range)});
    }
    return arrays;
  };
  const auto write = [](const std::vector<ArrayForm>& arrays) {
    std::vector<std::string> parts;
    for (const auto& [name, extents] : arrays)
      parts.push_back(name.empty() ? fmt::format("{}", fmt::join(extents, ", "))
                                   : fmt::format("{}: {}", name, fmt::join(extents, " x ")));
    return join(parts);
  };
  constexpr const char* kForms = "a, b, ..., or with names: NAME: a x b x ..., NAME: ..., each";
  return or_empty(value_of(field, "arrays", fmt::format("{} {} to {}", kForms, range.min, range.max), read, write));
}

Value frame_size(const Field<FrameSize>& field, IntegerRange range) {
  const auto read = [=](const Given& given) {
    if (given.value.empty()) return FrameSize{};
    const std::string text = lower_case(given.value);
    const std::size_t times = text.find('x');
    if (times == std::string::npos) refuse_value(given, "is not WIDTHxHEIGHT, as in 1280x720");
    const auto side = [&](const std::string& part) { return read_integer(given, trimmed(part), range.min, range.max); };
    return FrameSize{.width = side(text.substr(0, times)), .height = side(text.substr(times + 1))};
  };
  const auto write = [](const FrameSize& size) {
    return size.is_given() ? fmt::format("{}x{}", size.width, size.height) : std::string();
  };
  return or_empty(
      value_of(field, "size", fmt::format("WIDTHxHEIGHT, each {} to {}", range.min, range.max), read, write));
}

Value step_range(const Field<StepRange>& field, std::int64_t max) {
  const auto read = [=](const Given& given) {
    if (given.value.empty()) return StepRange{};
    const std::size_t dash = given.value.find('-', 1);  // a minus sign at the front is no dash
    const auto number = [&](std::string_view text) { return read_integer<std::int64_t>(given, trimmed(text), 1, max); };
    const std::int64_t first = number(std::string_view(given.value).substr(0, dash));
    const StepRange range{.first = first,
                          .last = dash == std::string::npos ? first : number(given.value.substr(dash + 1))};
    if (range.last < range.first) refuse_value(given, "ends before it begins");
    return range;
  };
  const auto write = [](const StepRange& range) {
    if (range.last == 0) return std::string();
    return range.first == range.last ? fmt::format("{}", range.first) : fmt::format("{}-{}", range.first, range.last);
  };
  return or_empty(value_of(field, "steps", fmt::format("FIRST-LAST, or one step, each 1 to {}", max), read, write));
}

Value sample_limit(const Field<SampleLimit>& field, std::int64_t max) {
  constexpr Range kShares = {.min = 0, .max = 100, .above_min = true};
  const auto read = [=](const Given& given) {
    if (given.value.empty()) return SampleLimit{};
    if (!given.value.ends_with('%'))
      return SampleLimit{.count = read_integer<std::int64_t>(given, given.value, 1, max)};
    return SampleLimit{.percent = read_number(given, trimmed(given.value.substr(0, given.value.size() - 1)), kShares)};
  };
  const auto write = [](const SampleLimit& limit) {
    if (limit.percent > 0) return fmt::format("{} %", limit.percent);
    return limit.count > 0 ? fmt::format("{}", limit.count) : std::string();
  };
  Value value = value_of(field, "limit", fmt::format("1 to {}, or a share up to 100 %, as in 10 %", max), read, write);
  value.may_be_empty = true;
  return value;
}

Value class_weights(const Field<ClassWeights>& field, Range range) {
  const auto read = [=](const Given& given) {
    ClassWeights weights{.balanced = lower_case(given.value) == "balanced"};
    if (weights.balanced || given.value.empty()) return weights;
    for (const std::string& part : split(given.value)) weights.factors.push_back(read_number(given, part, range));
    return weights;
  };
  const auto write = [](const ClassWeights& weights) {
    return weights.balanced ? "balanced" : fmt::format("{}", fmt::join(weights.factors, ", "));
  };
  return or_empty(
      value_of(field, "weights", fmt::format("balanced; a, b, ..., each {}", to_string(range)), read, write));
}

Value channel_values(const Field<ChannelValues>& field, Range range) {
  const auto read = [=](const Given& given) {
    const std::string word = lower_case(given.value);
    ChannelValues channels{.imagenet = word == "imagenet"};
    if (word == "data" || channels.imagenet) return channels;
    for (const std::string& part : split(given.value)) channels.values.push_back(read_number(given, part, range));
    return channels;
  };
  const auto write = [](const ChannelValues& channels) {
    if (channels.are_of_data()) return std::string("data");
    return channels.imagenet ? "imagenet" : fmt::format("{}", fmt::join(channels.values, ", "));
  };
  return value_of(field, "numbers", fmt::format("data; imagenet; a, b, ..., each {}", to_string(range)), read, write);
}

Value lower_case_text(const Field<std::string>& field, const std::string& allowed) {
  return value_of(field, "text", allowed, [](const Given& given) { return lower_case(read_some_text(given)); });
}

Value text(const Field<std::string>& field, const std::string& allowed) {
  return value_of(field, "text", allowed, read_some_text);
}

Value text_or_empty(const Field<std::string>& field, const std::string& allowed) {
  return or_empty(value_of(field, "text", allowed, read_text));
}

Value path(const Field<std::string>& field, const std::string& written) {
  Value value = value_of(field, "text", "a path", read_some_text);
  value.is_path = true;
  value.written = written;
  return value;
}

Value path_or_empty(const Field<std::string>& field, const std::string& written) {
  Value value = or_empty(path(field, written));
  value.read = [=](const Given& given, Parameters& p) { field.set(p, read_text(given)); };
  return value;
}

Value word_or_path(const Field<std::string>& field, const std::vector<std::string>& words, const std::string& path) {
  const auto read = [words](Given given) {
    std::string lower = lower_case(given.value);
    if (std::find(words.begin(), words.end(), lower) != words.end()) return lower;
    if (given.value.find_first_of("/.") == std::string::npos) {
      given.allowed += " with a '/' or a '.'";
      refuse_value(given, "is neither a choice nor a path", nearest_hint(lower, words));
    }
    return read_text(given);
  };
  Value value = value_of(field, "text", fmt::format("{}, or {}", join(words), path), read);
  value.is_path = true;
  return value;
}

std::size_t read_word(const Given& given, const Words& words) {
  return index_of(given.value, given, "is not one of its choices", words);
}

std::vector<std::size_t> read_words(const Given& given, const Words& words) {
  std::vector<std::size_t> indices;
  if (given.value.empty()) return indices;
  for (const std::string& part : split(given.value))
    indices.push_back(index_of(part, given, "is not a list of its choices", words));
  return indices;
}

std::string join(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string shown(std::string_view value) {
  constexpr std::size_t kMax = 60;
  if (value.empty()) return "(nothing)";
  std::string result(value.substr(0, kMax));
  std::replace_if(result.begin(), result.end(), is_control, '?');
  return value.size() > kMax ? result + "..." : result;
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
