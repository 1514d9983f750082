/// The types of keys: how their text is read, checked against what is allowed, and written back.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "convoy/params/parameters.h"

namespace convoy::params {

/// A value given for a key, and its place: all that an error message has to name.
struct Given {
  std::string key;                      ///< "batch.global"
  std::string value;                    ///< "128"
  std::string where;                    ///< "input/a.cfg:12", "command line"
  std::string unit = {}, allowed = {};  ///< those of the key, once it is known
  std::string written_key = {};         ///< the key as it was written, in small letters
};

/// The type of a key, with functions that read and write its value.
struct Value {
  std::string type;          ///< "integer"
  std::string allowed;       ///< "1 to 1024", "naive, gpipe, 1f1b"
  bool is_path = false;      ///< whether it is the path of a file or folder (or a word)
  std::string written = {};  ///< longest suffix or name that is written at the path: ".partial"; empty: only read
  bool may_be_empty = false;
  std::function<void(const Given&, Parameters&)> read;  ///< throws RequestError
  std::function<std::string(const Parameters&)> write;  ///< text from which read() gives the same bits
};

/// The member of Parameters with this type of section.
template <typename Section>
inline constexpr auto kSection = std::get<Section Parameters::*>(std::tuple(
    &Parameters::model, &Parameters::transformer, &Parameters::data, &Parameters::batch, &Parameters::grid,
    &Parameters::schedule, &Parameters::memory, &Parameters::optimizer, &Parameters::lr, &Parameters::train,
    &Parameters::augment, &Parameters::checkpoint, &Parameters::evaluate, &Parameters::predict, &Parameters::init,
    &Parameters::run, &Parameters::check, &Parameters::info, &Parameters::plan, &Parameters::replay, &Parameters::watch,
    &Parameters::sweep, &Parameters::import, &Parameters::exporting));

/// A field of a section, such as &BatchParams::global.
template <typename T>
struct Field {
  template <typename Section>
  Field(T Section::*member)
      : get([=](const Parameters& p) -> const T& { return p.*kSection<Section>.*member; }),
        set([=](Parameters& p, T value) { p.*kSection<Section>.*member = std::move(value); }) {}

  std::function<const T&(const Parameters&)> get;
  std::function<void(Parameters&, T)> set;
};

/// Writes numbers, flags and texts by fmt.
inline constexpr auto kAsText = [](const auto& value) { return fmt::format("{}", value); };

/// The Value of a field that `read` reads from text and `write` writes as text.
template <typename T, typename Read, typename Write = decltype(kAsText)>
Value value_of(const Field<T>& field, const std::string& type, const std::string& allowed, const Read& read,
               const Write& write = kAsText) {
  return {.type = type,
          .allowed = allowed,
          .read = [=](const Given& given, Parameters& p) { field.set(p, read(given)); },
          .write = [=](const Parameters& p) { return write(field.get(p)); }};
}

/// The same Value, which may be empty.
inline Value or_empty(Value value) {
  value.may_be_empty = true;
  return value;
}

/// A range of numbers; both ends are allowed unless above_min or below_max is set.
struct Range {
  double min = 0;
  double max = std::numeric_limits<double>::max();
  bool above_min = false;
  bool below_max = false;
};

struct IntegerRange {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

Value integer(const Field<std::int64_t>& field, IntegerRange range);
/// An integer, or the word auto for 0.
Value integer_or_auto(const Field<std::int64_t>& field, IntegerRange range);
/// A list of integers, "3, 7"; an empty list is written as `none`.
Value integers(const Field<std::vector<std::int64_t>>& field, IntegerRange range, const std::string& none = "");
/// A list of integers; the word "max" in it is kLargestThatFits.
Value integers_or_max(const Field<std::vector<std::int64_t>>& field, IntegerRange range);
Value any_uint64(const Field<std::uint64_t>& field);
Value number(const Field<double>& field, Range range);
Value numbers(const Field<std::vector<double>>& field, Range range);  ///< a list, "30, 60, 80"; may be empty
Value flag(const Field<bool>& field);

/// A text of one line.
Value text(const Field<std::string>& field, const std::string& allowed);
Value text_or_empty(const Field<std::string>& field, const std::string& allowed);
/// A text that is read in small letters: ResNet18 as resnet18.
Value lower_case_text(const Field<std::string>& field, const std::string& allowed);
Value texts(const Field<std::vector<std::string>>& field,
            const std::string& allowed);  ///< a list, "a, b"; may be empty

/// A list of groups, "layer1.*: 0.1, fc.*: 10"; may be empty.
Value rate_groups(const Field<std::vector<RateGroup>>& field, Range range);

/// The extents of one array without a name, "64, 64, 7", or of several with names, "image: 64 x 64 x 7, position: 3";
/// may be empty.
Value array_forms(const Field<std::vector<ArrayForm>>& field, IntegerRange range);

/// A number of columns and one of rows, "1280x720"; may be empty.
Value frame_size(const Field<FrameSize>& field, IntegerRange range);

/// A range of steps, "100-120", or one step; may be empty.
Value step_range(const Field<StepRange>& field, std::int64_t max);

/// A share "10 %", or a number of samples; may be empty.
Value sample_limit(const Field<SampleLimit>& field, std::int64_t max);

/// The word "balanced", or a list "1, 2.5, ..."; may be empty.
Value class_weights(const Field<ClassWeights>& field, Range range);

/// The words "data" or "imagenet", or numbers: "0.5", or "0.485, 0.456, ...".
Value channel_values(const Field<ChannelValues>& field, Range range);

/// A path; for `written` see Value.
Value path(const Field<std::string>& field, const std::string& written = "");
Value path_or_empty(const Field<std::string>& field, const std::string& written = "");

/// One of the words, or a path: anything with a '/' or a '.', so that a misspelt word is not a path.
Value word_or_path(const Field<std::string>& field, const std::vector<std::string>& words, const std::string& path);

/// A value as messages show it: on one line, not too long.
std::string shown(std::string_view value);

/// The text without blanks at either end.
std::string trimmed(std::string_view text);

/// A hint " Nearest: gpipe."; empty if no candidate is near.
std::string nearest_hint(std::string_view word, const std::vector<std::string>& candidates);

std::string join(const std::vector<std::string>& words);

struct Words {
  std::vector<std::string> words;
  std::vector<std::string> synonyms = {};  ///< for each word, separated by blanks
};

/// The index of the given word among the words. Throws RequestError, naming the nearest word, if the given one is
/// unknown.
std::size_t read_word(const Given& given, const Words& words);
/// The indices of the words in a list "a, b, c"; an empty text has none. Throws RequestError for an unknown word.
std::vector<std::size_t> read_words(const Given& given, const Words& words);

/// Returns the words of an enumeration and their synonyms, in the order of kChoices<T>.
template <typename T>
Words words_of() {
  Words words;
  for (const auto& c : kChoices<T>) words.words.emplace_back(c.word), words.synonyms.emplace_back(c.synonyms);
  return words;
}

/// A field of any enumeration. The words may be written in capitals too: the papers have 1F1B. A synonym is refused
/// with the word that it means.
template <typename Section, typename T>
Value choice(T Section::*member) {
  const Words words = words_of<T>();
  const auto read = [=](const Given& given) { return kChoices<T>[read_word(given, words)].value; };
  return value_of(Field<T>(member), "choice", join(words.words), read, [](T value) { return name_of(value); });
}

/// A field like that of choice(), or the word `auto` for no value.
template <typename Section, typename T>
Value choice_or_auto(std::optional<T> Section::*member) {
  Words words = words_of<T>();
  words.words.insert(words.words.begin(), "auto"), words.synonyms.insert(words.synonyms.begin(), "");
  const auto read = [=](const Given& given) {
    const std::size_t word = read_word(given, words);
    return word > 0 ? std::optional(kChoices<T>[word - 1].value) : std::nullopt;
  };
  const auto write = [](const std::optional<T>& value) { return value ? name_of(*value) : "auto"; };
  return value_of(Field<std::optional<T>>(member), "choice", join(words.words), read, write);
}

/// A list of words of an enumeration, "gpipe, 1f1b"; may be empty.
template <typename Section, typename T>
Value choices(std::vector<T> Section::*member) {
  const Words words = words_of<T>();
  const auto read = [=](const Given& given) {
    std::vector<T> values;
    for (const std::size_t index : read_words(given, words)) values.push_back(kChoices<T>[index].value);
    return values;
  };
  const auto write = [](const std::vector<T>& values) {
    std::vector<std::string> written;
    for (const T value : values) written.emplace_back(name_of(value));
    return join(written);
  };
  return or_empty(value_of(Field<std::vector<T>>(member), "choices", join(words.words), read, write));
}

}  // namespace convoy::params
