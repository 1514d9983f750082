/// Checks the arguments of layer functions, and describes them for the page of functions.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/model/network_file.h"

#include "model/layer_functions.h"

namespace convoy {

namespace {

using Kind = ArgumentSpec::Kind;

// Makes a whole number a number, and a number without a fraction a whole number, if the argument is one.
void convert(const ArgumentSpec& spec, Argument& value) {
  if (const auto* const whole = std::get_if<std::int64_t>(&value); whole != nullptr && spec.kind == Kind::kNumber)
    value = static_cast<double>(*whole);
  if (const auto* const number = std::get_if<double>(&value); number != nullptr && spec.kind == Kind::kInteger)
    if (*number == std::trunc(*number) && std::abs(*number) < 1e15) value = static_cast<std::int64_t>(*number);
}

bool has_kind(const ArgumentSpec& spec, const Argument& value) {
  switch (spec.kind) {
    case Kind::kInteger:
      return std::holds_alternative<std::int64_t>(value);
    case Kind::kNumber:
      return std::holds_alternative<double>(value) && std::isfinite(std::get<double>(value));
    case Kind::kFlag:
      return std::holds_alternative<bool>(value);
    case Kind::kInitialValues:
      return std::holds_alternative<InitialValues>(value) && std::isfinite(std::get<InitialValues>(value).size);
    case Kind::kNames:
      return std::holds_alternative<std::vector<std::string>>(value);
  }
  return false;
}

void check_range(const ArgumentSpec& spec, double value) {
  if (value < spec.min) refuse("{} = {} is too small: at least {}", spec.name, value, spec.min);
  if (value > spec.max) refuse("{} = {} is too large: at most {}", spec.name, value, spec.max);
}

std::string shown(const Argument& value) {
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* const number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* const flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* const names = std::get_if<std::vector<std::string>>(&value))
    return names->size() == 1 ? fmt::format("the text '{}'", excerpt(names->front())) : "a list of texts";
  return "normal(...), uniform(...) or constant(...)";
}

void check(const ArgumentSpec& spec, Argument& value) {
  convert(spec, value);
  if (!has_kind(spec, value)) refuse("{} must be {}, not {}", spec.name, name_of(spec.kind), shown(value));
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) check_range(spec, static_cast<double>(*whole));
  if (const auto* const number = std::get_if<double>(&value)) check_range(spec, *number);
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kInteger:
      return "a whole number";
    case Kind::kNumber:
      return "a number";
    case Kind::kFlag:
      return "true or false";
    case Kind::kInitialValues:
      return "normal(...), uniform(...) or constant(...)";
    case Kind::kNames:
      return "a list of names";
  }
  return "";
}

const ArgumentSpec& find_argument(const LayerFunction& function, const std::string& name) {
  const auto found = std::ranges::find(function.arguments, name, &ArgumentSpec::name);
  if (found != function.arguments.end()) return *found;
  std::vector<std::string> names;
  for (const ArgumentSpec& spec : function.arguments) names.push_back(spec.name);
  const std::string suggestion = nearest(name, names);
  refuse("it has no argument '{}'. {}", excerpt(name),
         !suggestion.empty() ? fmt::format("Nearest: {}", suggestion)
         : names.empty()     ? "It has none"
                             : fmt::format("It has: {}", fmt::join(names, ", ")));
}

const char* name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::kNumbers:
      return "numbers";
    case ValueKind::kTokens:
      return "tokens, as feature(\"tokens\")";
    case ValueKind::kLengths:
      return "lengths of texts, as feature(\"length\")";
    case ValueKind::kPositions:
      return "positions of words, as feature(\"masked_positions\")";
    case ValueKind::kLabels:
      return "labels, as feature(\"masked_words\")";
    case ValueKind::kTargets:
      return "targets, as feature(\"target\")";
    case ValueKind::kScores:
      return "scores of a loss, as linear_cross_entropy(...)";
    case ValueKind::kLogits:
      return "the result of logits";
    case ValueKind::kObjectives:
      return "the result of objectives";
  }
  return "";
}

void LayerArguments::check_covers(const std::string& argument, std::size_t input) const {
  if (integer(argument) < num_values_[input])
    refuse("{} = {} are fewer than the {} values that its input can have", argument, integer(argument),
           num_values_[input]);
}

void complete(const LayerFunction& function, LayerCall& call) {
  const auto num_inputs = std::ssize(call.inputs);
  if (num_inputs < function.min_inputs || num_inputs > function.max_inputs)
    refuse("{} inputs are given; it reads {}", num_inputs,
           function.min_inputs == function.max_inputs
               ? fmt::format("{}", function.min_inputs)
               : fmt::format("{} to {}", function.min_inputs, function.max_inputs));
  for (const auto& [name, value] : call.arguments) find_argument(function, name);
  for (const ArgumentSpec& spec : function.arguments) {
    const auto given = call.arguments.find(spec.name);
    if (given != call.arguments.end())
      check(spec, given->second);
    else if (spec.initial)
      call.arguments[spec.name] = *spec.initial;
    else if (spec.is_required)
      refuse("the argument '{}' is missing: {}", spec.name, spec.about);
  }
}

void drop_defaults(const LayerFunction& function, LayerCall& call) {
  for (const ArgumentSpec& spec : function.arguments) {
    const auto given = call.arguments.find(spec.name);
    if (given != call.arguments.end() && given->second == spec.initial) call.arguments.erase(given);
  }
}

std::string describe_layer_functions() {
  std::string text =
      "\n## Functions of network files\n\n[networks.md](networks.md) shows how they are used. The arguments in braces "
      "are given in a table; "
      "the first of them may also be given without its name: `conv(\"conv1\", x, {16, kernel = 3})`.\n\n"
      "| function | meaning |\n| --- | --- |\n"
      "| `feature(\"NAME\")` | what the samples have: `image`; `tokens`, `length` and others of texts |\n";
  for (const LayerFunction& function : layer_functions()) {
    std::vector<std::string> given;
    if (function.has_name) given.emplace_back("\"NAME\"");
    for (std::int64_t i = 0; i < std::min<std::int64_t>(function.max_inputs, 2); ++i)
      given.push_back(i < function.min_inputs ? (i == 0 ? "x" : "x2") : "[x2]");
    std::vector<std::string> names;
    std::string meaning = function.about;
    for (const ArgumentSpec& spec : function.arguments) {
      names.push_back(spec.name);
      meaning += fmt::format("; `{}`: {}{}", spec.name, spec.about,
                             spec.initial ? fmt::format(" ({})", shown(*spec.initial)) : "");
    }
    if (!names.empty()) given.push_back(fmt::format("{{{}}}", fmt::join(names, ", ")));
    text += fmt::format("| `{}({})` | {} |\n", function.name, fmt::join(given, ", "), meaning);
  }
  return text;
}

}  // namespace convoy
