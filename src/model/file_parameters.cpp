/// Reads declarations, and values of the type that the value in the file has.
#include "model/file_parameters.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/text.h"

namespace convoy {

namespace {

constexpr std::int64_t kMaxParameters = 1000;

template <typename... Args>
[[noreturn]] void refuse_value(fmt::format_string<Args...> format, Args&&... args) {
  throw Refusal(fmt::format(format, std::forward<Args>(args)...));
}

template <typename Number>
Number parse_number(const std::string& name, const std::string& text, const char* what) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = std::is_integral_v<Number>;
  if (error != std::errc() || end != text.data() + text.size() || (is_whole && fmt::format("{}", number) != text))
    refuse_value("the parameter {} must be {}, not {}", name, what, excerpt(text));
  return number;
}

// The value at this index as a user would give it.
std::string shown(lua_State* lua, int index) {
  if (lua_isinteger(lua, index)) return fmt::format("{}", lua_tointegerx(lua, index, nullptr));
  if (lua_type(lua, index) == LUA_TNUMBER) return fmt::format("{}", lua_tonumberx(lua, index, nullptr));
  if (lua_isboolean(lua, index)) return lua_toboolean(lua, index) != 0 ? "true" : "false";
  return is_text(lua, index) ? text_at(lua, index) : "";
}

}  // namespace

struct FileParameters::Range {
  std::optional<double> min, max;
  std::vector<std::string> choices;
};

FileParameters::Range FileParameters::read_range(lua_State* lua, int index) {
  Range range;
  if (lua_isnoneornil(lua, index)) return range;
  if (!lua_istable(lua, index)) refuse("parameter: the range is a table, as in {{min = 1, max = 10}}");
  for (lua_Integer i = 1; lua_rawgeti(lua, index, i) == LUA_TSTRING; ++i, lua_settop(lua, index))
    range.choices.push_back(text_at(lua, -1));
  lua_settop(lua, index);
  for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_settop(lua, index + 1)) {
    if (lua_isinteger(lua, index + 1) && is_text(lua, -1)) continue;
    const std::string key = is_text(lua, index + 1) ? text_at(lua, index + 1) : "";
    if ((key != "min" && key != "max") || lua_type(lua, -1) != LUA_TNUMBER)
      refuse("parameter: a range has the numbers min and max, or words, but no '{}'", excerpt(key));
    (key == "min" ? range.min : range.max) = lua_tonumber(lua, -1);
  }
  return range;
}

std::string FileParameters::describe(const Range& range, const char* type) {
  if (!range.choices.empty()) return fmt::format("{}", fmt::join(range.choices, ", "));
  std::string text = type;
  if (range.min) text += fmt::format(", at least {}", *range.min);
  if (range.max) text += fmt::format(", at most {}", *range.max);
  return text;
}

void FileParameters::check_range(const std::string& name, double value, const Range& range) {
  if ((range.min && !(value >= *range.min)) || (range.max && !(value <= *range.max)))
    refuse_value("the parameter {} must be {}, not {}", name, describe(range, "a number"), value);
}

// parameter(name, value, about, [{min = ..., max = ...} or {"word", "other"}]) returns its value. A wrong value of the
// user needs no line of the file, but a wrong default does.
Returned FileParameters::declare(lua_State* lua) try { return declare_checked(lua); } catch (const Refusal& refusal) {
  if (settings_.contains(text_at(lua, 1))) throw;
  refuse("{}", refusal.what());
}

Returned FileParameters::declare_checked(lua_State* lua) {
  lua_settop(lua, 4);
  if (!is_text(lua, 1)) refuse("parameter: the first argument is its name");
  const std::string name = text_at(lua, 1);
  if (!is_text(lua, 3)) refuse("parameter {}: the third argument is a sentence that explains it", excerpt(name));
  if (std::ranges::count(declared_, name, &NetworkParameter::name) != 0)
    refuse("parameter {}: it is declared twice", excerpt(name));
  if (!context_.is_declared) refuse("parameter {}: network{{...}} must come first", excerpt(name));
  if (std::ssize(declared_) >= kMaxParameters) refuse("parameter: more than {}", kMaxParameters);
  const Range range = read_range(lua, 4);
  const bool is_given = settings_.contains(name);
  const std::string given = take(name, "");
  NetworkParameter described{
      .name = name, .value = given, .about = text_at(lua, 3), .initial = shown(lua, 2), .allowed = {}};
  Returned value;
  if (lua_isinteger(lua, 2)) {
    value = is_given ? parse_number<std::int64_t>(name, given, "a whole number") : lua_tointegerx(lua, 2, nullptr);
    check_range(name, static_cast<double>(std::get<std::int64_t>(value)), range);
    described.value = fmt::format("{}", std::get<std::int64_t>(value));
    described.allowed = describe(range, "whole number");
  } else if (lua_type(lua, 2) == LUA_TNUMBER) {
    value = is_given ? parse_number<double>(name, given, "a number") : lua_tonumberx(lua, 2, nullptr);
    check_range(name, std::get<double>(value), range);
    described.value = fmt::format("{}", std::get<double>(value));
    described.allowed = describe(range, "number");
  } else if (lua_isboolean(lua, 2)) {
    if (is_given && given != "true" && given != "false")
      refuse_value("the parameter {} must be true or false, not {}", name, excerpt(given));
    value = is_given ? given == "true" : lua_toboolean(lua, 2) != 0;
    described.value = std::get<bool>(value) ? "true" : "false";
    described.allowed = "true, false";
  } else if (is_text(lua, 2)) {
    value = is_given ? given : text_at(lua, 2);
    described.value = std::get<std::string>(value);
    if (!range.choices.empty() && std::ranges::count(range.choices, described.value) == 0)
      refuse_value("the parameter {} must be one of {}, not {}", name, fmt::join(range.choices, ", "),
                   excerpt(described.value));
    described.allowed = describe(range, "word");
  } else {
    refuse("parameter {}: its value without model.set must be a number, a text, true or false", excerpt(name));
  }
  declared_.push_back(std::move(described));
  return value;
}

std::string FileParameters::take(const std::string& name, const std::string& otherwise) {
  taken_.insert(name);
  const auto given = settings_.find(name);
  return given == settings_.end() ? otherwise : given->second;
}

void FileParameters::check_all_taken() const {
  std::vector<std::string> names;
  for (const NetworkParameter& known : declared_) names.push_back(known.name);
  for (const auto& [name, value] : settings_) {
    if (taken_.contains(name)) continue;
    const std::string suggestion = nearest(name, names);
    refuse("the network has no parameter '{}', so that it cannot be {}. {}", excerpt(name), excerpt(value),
           !suggestion.empty() ? "Nearest: " + suggestion
           : names.empty()     ? "It has no parameters"
                               : fmt::format("It has: {}", fmt::join(names, ", ")));
  }
}

}  // namespace convoy
