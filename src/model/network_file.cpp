/// The functions that files call, between Lua and ListedCell.
///
/// Lua reports errors by longjmp, which must not pass over C++ destructors, and C++ exceptions must not pass Lua's
/// frames. So each function is a member of NetworkFileRun that calls only those functions of Lua that raise no errors.
/// It returns its result, or throws; `guarded` hands the result or the message to Lua when no C++ object is left.
#include "model/network_file.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <lua.hpp>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

#include "model/built_in_networks.h"
#include "model/layer_functions.h"
#include "model/listed_cell.h"
#include "model/lua_sandbox.h"

namespace convoy {

namespace {

constexpr std::int64_t kMaxCells = 10'000, kMaxLayers = 50'000, kMaxParameters = 1000;
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr std::int64_t kOutput = 0xffffff;  // the number of a cell's output, in a handle

// A value of a cell as Lua has it: a pointer that points nowhere.
struct Handle {
  std::int64_t cell = 0;   // from 0
  std::int64_t value = 0;  // its number in the cell, or kOutput
};

void* to_pointer(const Handle& handle) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(((handle.cell + 1) << 24) | handle.value));
}

Handle to_handle(const void* pointer) {
  const auto bits = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer));
  return {.cell = (bits >> 24) - 1, .value = bits & kOutput};
}

// The text of a string on Lua's stack, which must not be a number: a number would be converted in place.
std::string text_at(lua_State* lua, int index) {
  std::size_t size = 0;
  const char* const text = lua_tolstring(lua, index, &size);
  return {text, size};
}

bool is_text(lua_State* lua, int index) {
  return lua_type(lua, index) == LUA_TSTRING;
}

// What a function returns to Lua.
using Returned = std::variant<std::monostate, std::int64_t, double, bool, std::string, Handle>;

// An error whose message is for the user alone, without the line in the file.
class Refusal : public RequestError {
 public:
  using RequestError::RequestError;
};

// Ends a run whose declaration alone is wanted.
class Declared : public std::exception {};

class NetworkFileRun {
 public:
  NetworkFileRun(const NetworkSource& source, const NetworkRequest* request) : source_(source), request_(request) {}

  void run();
  NetworkDeclaration declaration() const { return declaration_; }
  BuiltNetwork result();

 private:
  using Function = Returned (NetworkFileRun::*)(lua_State* lua);

  // The functions that files call.
  Returned declare(lua_State* lua);
  Returned parameter(lua_State* lua);
  Returned refuse_request(lua_State* lua);
  Returned begin_cell(lua_State* lua);
  Returned end_cell(lua_State* lua);
  Returned feature(lua_State* lua);
  Returned layer(lua_State* lua);
  Returned sum(lua_State* lua);
  Returned property(lua_State* lua);
  Returned unknown_global(lua_State* lua);

  template <Function function>
  static int guarded(lua_State* lua);
  template <Function function>
  void add_function(lua_State* lua, const char* name);
  static int open(lua_State* lua);
  static int set_string_methods(lua_State* lua);
  void add_globals(lua_State* lua);

  Returned add_layer(LayerCall call);
  ListedCell& current(const char* what);
  std::int64_t value_of_current_cell(lua_State* lua, int index);
  const Shape& shape_of(const Handle& handle) const;
  std::string cell_name(std::int64_t cell) const;
  void read_arguments(lua_State* lua, int index, const LayerFunction& function, LayerCall& call) const;
  std::string setting_of(const std::string& name, bool& is_given);
  std::string position(lua_State* lua) const;

  const NetworkSource& source_;
  const NetworkRequest* request_;  // null: only the declaration is wanted
  NetworkDeclaration declaration_;
  bool is_declared_ = false;
  BuiltNetwork built_;
  std::set<std::string> used_settings_;
  std::unique_ptr<ListedCell> cell_;  // the cell that is being built
  std::vector<Shape> outputs_;        // of all finished cells
  std::set<std::string> cell_names_, parameter_names_;
  std::int64_t num_layers_ = 0;
  Returned returned_;
  std::string error_;  // of the function that has thrown
};

// The line of the file from which the current function was called, as "my.lua:14: ".
std::string NetworkFileRun::position(lua_State* lua) const {
  lua_Debug frame{};
  for (int level = 0; lua_getstack(lua, level, &frame) != 0; ++level) {
    lua_getinfo(lua, "Sl", &frame);
    if (std::string_view(frame.source).substr(1) == source_.name)
      return fmt::format("{}:{}: ", source_.name, frame.currentline);
  }
  return source_.name + ": ";
}

template <NetworkFileRun::Function function>
int NetworkFileRun::guarded(lua_State* lua) {
  auto* const run = static_cast<NetworkFileRun*>(lua_touserdata(lua, lua_upvalueindex(1)));
  bool failed = true;
  try {
    run->returned_ = (run->*function)(lua);
    failed = false;
  } catch (const Refusal& error) {
    run->error_ = error.what();
  } catch (const std::exception& error) {
    run->error_ = run->position(lua) + error.what();
  }
  if (failed) {
    lua_pushlstring(lua, run->error_.data(), run->error_.size());
    return lua_error(lua);
  }
  const Returned& returned = run->returned_;
  if (const auto* const whole = std::get_if<std::int64_t>(&returned)) return lua_pushinteger(lua, *whole), 1;
  if (const auto* const number = std::get_if<double>(&returned)) return lua_pushnumber(lua, *number), 1;
  if (const auto* const flag = std::get_if<bool>(&returned)) return lua_pushboolean(lua, *flag ? 1 : 0), 1;
  if (const auto* const text = std::get_if<std::string>(&returned))
    return lua_pushlstring(lua, text->data(), text->size()), 1;
  if (const auto* const handle = std::get_if<Handle>(&returned))
    return lua_pushlightuserdata(lua, to_pointer(*handle)), 1;
  return 0;
}

// --- What the file finds -------------------------------------------------------------------------------------------

// Adds a function to the table on top of the stack. These functions may raise Lua's errors: open() calls them.
template <NetworkFileRun::Function function>
void NetworkFileRun::add_function(lua_State* lua, const char* name) {
  lua_pushlightuserdata(lua, this);
  lua_pushcclosure(lua, guarded<function>, 1);
  lua_setfield(lua, -2, name);
}

int NetworkFileRun::set_string_methods(lua_State* lua) {
  lua_pushliteral(lua, "");
  lua_getmetatable(lua, -1);
  lua_pushvalue(lua, 1);
  lua_setfield(lua, -2, "__index");
  return 0;
}

void NetworkFileRun::add_globals(lua_State* lua) {
  for (const LayerFunction& function : layer_functions()) {
    lua_pushlightuserdata(lua, this);
    lua_pushinteger(lua, &function - layer_functions().data());
    lua_pushcclosure(lua, guarded<&NetworkFileRun::layer>, 2);
    lua_setfield(lua, -2, function.name.c_str());
  }
  add_function<&NetworkFileRun::declare>(lua, "network");
  add_function<&NetworkFileRun::parameter>(lua, "parameter");
  add_function<&NetworkFileRun::refuse_request>(lua, "refuse");
  add_function<&NetworkFileRun::feature>(lua, "feature");
  if (request_ == nullptr) return;
  lua_pushinteger(lua, request_->num_classes);
  lua_setfield(lua, -2, "num_classes");
  lua_newtable(lua);
  const auto add_number = [&](const char* name, std::int64_t number) {
    lua_pushinteger(lua, number);
    lua_setfield(lua, -2, name);
  };
  if (const auto* const image = std::get_if<ImageShape>(&request_->input)) {
    add_number("height", image->h);
    add_number("width", image->w);
    add_number("channels", image->c);
  } else {
    add_number("length", std::get<TextShape>(request_->input).length);
    add_number("vocabulary", std::get<TextShape>(request_->input).vocabulary);
  }
  lua_pushstring(lua, kind_of(request_->input));
  lua_setfield(lua, -2, "kind");
  lua_setfield(lua, -2, "input");
}

// Leaves the table that the prelude reads on the stack.
int NetworkFileRun::open(lua_State* lua) {
  auto* const run = static_cast<NetworkFileRun*>(lua_touserdata(lua, 1));
  luaL_requiref(lua, LUA_GNAME, luaopen_base, 1);
  luaL_requiref(lua, LUA_STRLIBNAME, luaopen_string, 1);
  luaL_requiref(lua, LUA_TABLIBNAME, luaopen_table, 1);
  luaL_requiref(lua, LUA_MATHLIBNAME, luaopen_math, 1);
  lua_settop(lua, 0);
  lua_pushlightuserdata(lua, run);
  lua_newtable(lua);
  run->add_function<&NetworkFileRun::sum>(lua, "__add");
  run->add_function<&NetworkFileRun::property>(lua, "__index");
  lua_setmetatable(lua, 1);  // of all values of cells
  lua_settop(lua, 0);
  lua_newtable(lua);
  run->add_function<&NetworkFileRun::begin_cell>(lua, "begin_cell");
  run->add_function<&NetworkFileRun::end_cell>(lua, "end_cell");
  run->add_function<&NetworkFileRun::unknown_global>(lua, "unknown_global");
  lua_pushcfunction(lua, set_string_methods);
  lua_setfield(lua, -2, "set_string_methods");
  lua_newtable(lua);
  run->add_globals(lua);
  lua_setfield(lua, -2, "globals");
  return 1;
}

void NetworkFileRun::run() {
  if (source_.text.size() > kMaxFileBytes)
    refuse("{}: the file is larger than {}", source_.name, human_bytes(static_cast<std::int64_t>(kMaxFileBytes)));
  LuaSandbox sandbox;
  lua_State* const lua = sandbox.state();
  try {
    lua_pushcfunction(lua, open);
    lua_pushlightuserdata(lua, this);
    sandbox.call(1, 1);
    sandbox.load(network_prelude(), "prelude");
    lua_insert(lua, 1);
    sandbox.call(1, 1);
    sandbox.load(source_.text, source_.name);
    lua_insert(lua, 1);
    lua_setupvalue(lua, 1, 1);  // its global variables
    sandbox.call(0, 1);
  } catch (const RequestError& error) {
    if (is_declared_ && request_ == nullptr) return;
    const std::string message = printable(error.what());
    refuse("{}{}", message.find(source_.name) == std::string::npos && message != error_ ? source_.name + ": " : "",
           message);
  }
  const bool is_value = lua_islightuserdata(lua, -1);
  const Handle handle = is_value ? to_handle(lua_touserdata(lua, -1)) : Handle{};
  if (!is_value || handle.value != kOutput || handle.cell != std::ssize(outputs_) - 1)
    refuse("{}: a file ends with 'return' and the result of its last cell", source_.name);
}

BuiltNetwork NetworkFileRun::result() {
  const CellList& last = built_.list.cells.back();
  const std::string function = last.layers.back().function;
  if (function != "logits" && function != "objectives")
    refuse("{}: the last cell, '{}', must end with logits(...) or objectives(...), not with {}", source_.name,
           last.name, function);
  for (const auto& [name, value] : request_->settings) {
    if (used_settings_.contains(name)) continue;
    std::vector<std::string> names;
    for (const NetworkParameter& known : built_.parameters) names.push_back(known.name);
    refuse("{}: the network has no parameter '{}' (value {}). {}", source_.name, excerpt(name), excerpt(value),
           names.empty() ? "It has none" : fmt::format("It has: {}", fmt::join(names, ", ")));
  }
  return std::move(built_);
}

Returned NetworkFileRun::unknown_global(lua_State* lua) {
  if (!is_text(lua, 2)) refuse("there is no such variable");
  const std::string name = text_at(lua, 2);
  std::vector<std::string> names = {"network", "parameter", "refuse", "feature", "cell", "input", "num_classes"};
  for (const LayerFunction& function : layer_functions()) names.push_back(function.name);
  const std::string suggestion = nearest(name, names);
  refuse("there is no function or variable '{}'.{}", excerpt(name),
         suggestion.empty() ? "" : " Nearest: " + suggestion);
}

// --- Declarations --------------------------------------------------------------------------------------------------

// network{names = {...}, form = ..., about = ...} returns the name of the network that is wanted.
Returned NetworkFileRun::declare(lua_State* lua) {
  if (is_declared_) refuse("network: it is declared twice");
  if (!lua_istable(lua, 1)) refuse("network: it needs a table, as in network{{about = \"...\"}}");
  lua_settop(lua, 1);
  for (lua_pushnil(lua); lua_next(lua, 1) != 0; lua_settop(lua, 2)) {
    const std::string key = is_text(lua, 2) ? text_at(lua, 2) : "";
    if (key == "names" && lua_istable(lua, 3)) {
      for (lua_Integer i = 1; lua_rawgeti(lua, 3, i) == LUA_TSTRING; ++i, lua_settop(lua, 3))
        declaration_.names.push_back(text_at(lua, 4));
    } else if (key == "form" && is_text(lua, 3)) {
      declaration_.form = text_at(lua, 3);
    } else if (key == "about" && is_text(lua, 3)) {
      declaration_.about = text_at(lua, 3);
    } else {
      refuse("network: it has names (a list), form and about (texts), but no '{}'", excerpt(key));
    }
  }
  is_declared_ = true;
  if (request_ == nullptr) throw Declared();
  if (!request_->name.empty()) return request_->name;
  bool is_given = false;
  const std::string given = setting_of("name", is_given);
  return is_given || declaration_.names.empty() ? given : declaration_.names.front();
}

// The value that the request has for a parameter; or empty.
std::string NetworkFileRun::setting_of(const std::string& name, bool& is_given) {
  used_settings_.insert(name);
  const auto given = request_->settings.find(name);
  is_given = given != request_->settings.end();
  return is_given ? given->second : "";
}

struct Range {
  std::optional<double> min, max;
  std::vector<std::string> choices;
};

Range read_range(lua_State* lua, int index) {
  Range range;
  if (lua_isnoneornil(lua, index)) return range;
  if (!lua_istable(lua, index)) refuse("parameter: the range is a table, as in {{min = 1, max = 10}}");
  for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_settop(lua, index + 1)) {
    const std::string key = is_text(lua, index + 1) ? text_at(lua, index + 1) : "";
    if (key == "min" && lua_type(lua, -1) == LUA_TNUMBER) {
      range.min = lua_tonumber(lua, -1);
    } else if (key == "max" && lua_type(lua, -1) == LUA_TNUMBER) {
      range.max = lua_tonumber(lua, -1);
    } else if (lua_isinteger(lua, index + 1) && is_text(lua, -1)) {
      range.choices.push_back(text_at(lua, -1));
    } else {
      refuse("parameter: a range has min, max or words, but no '{}'", excerpt(key));
    }
  }
  std::ranges::sort(range.choices);
  return range;
}

template <typename Number>
Number parse_number(const std::string& name, const std::string& text, const char* what) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    refuse("parameter {} = {}: it must be {}", name, excerpt(text), what);
  return number;
}

std::string describe(const Range& range, const char* type) {
  if (!range.choices.empty()) return fmt::format("{}", fmt::join(range.choices, ", "));
  std::string text = type;
  if (range.min) text += fmt::format(", at least {}", *range.min);
  if (range.max) text += fmt::format(", at most {}", *range.max);
  return text;
}

void check_range(const std::string& name, double value, const Range& range) {
  if ((range.min && !(value >= *range.min)) || (range.max && !(value <= *range.max)))
    refuse("parameter {} = {}: it must be {}", name, value, describe(range, "a number"));
}

// parameter(name, value, about, [{min = ..., max = ...} or {"word", "other"}]) returns its value.
Returned NetworkFileRun::parameter(lua_State* lua) {
  lua_settop(lua, 4);
  if (!is_text(lua, 1)) refuse("parameter: the first argument is its name");
  const std::string name = text_at(lua, 1);
  if (!is_text(lua, 3)) refuse("parameter {}: the third argument is a sentence that explains it", excerpt(name));
  if (std::ranges::count(built_.parameters, name, &NetworkParameter::name) != 0)
    refuse("parameter {}: it is declared twice", excerpt(name));
  if (std::ssize(built_.parameters) >= kMaxParameters) refuse("parameter: more than {}", kMaxParameters);
  const Range range = read_range(lua, 4);
  bool is_given = false;
  const std::string given = request_ == nullptr ? "" : setting_of(name, is_given);
  NetworkParameter described{.name = name, .value = given, .about = text_at(lua, 3), .allowed = {}};
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
      refuse("parameter {} = {}: it must be true or false", name, excerpt(given));
    value = is_given ? given == "true" : lua_toboolean(lua, 2) != 0;
    described.value = std::get<bool>(value) ? "true" : "false";
    described.allowed = "true, false";
  } else if (is_text(lua, 2)) {
    value = is_given ? given : text_at(lua, 2);
    described.value = std::get<std::string>(value);
    if (!range.choices.empty() && std::ranges::count(range.choices, described.value) == 0)
      refuse("parameter {} = {}: it must be one of {}", name, excerpt(described.value), fmt::join(range.choices, ", "));
    described.allowed = describe(range, "word");
  } else {
    refuse("parameter {}: its value without model.set must be a number, a text, true or false", excerpt(name));
  }
  built_.parameters.push_back(std::move(described));
  return value;
}

Returned NetworkFileRun::refuse_request(lua_State* lua) {
  if (!is_text(lua, 1)) refuse("refuse: it needs the text of a message");
  throw Refusal(text_at(lua, 1));
}

// --- Cells ---------------------------------------------------------------------------------------------------------

std::string NetworkFileRun::cell_name(std::int64_t cell) const {
  const auto& cells = built_.list.cells;
  return cell < std::ssize(cells) ? cells[static_cast<std::size_t>(cell)].name : cell_->list().name;
}

const Shape& NetworkFileRun::shape_of(const Handle& handle) const {
  return handle.value == kOutput ? outputs_[static_cast<std::size_t>(handle.cell)] : cell_->shape_of(handle.value);
}

// The cell that is being built; `what` is called outside of one.
ListedCell& NetworkFileRun::current(const char* what) {
  if (cell_ == nullptr) refuse("{}: a layer belongs to a cell: call it in the function of cell(...)", what);
  return *cell_;
}

Returned NetworkFileRun::begin_cell(lua_State* lua) {
  lua_settop(lua, 3);
  const std::string name = excerpt(text_at(lua, 1));
  const std::string last = outputs_.empty() ? "" : cell_name(std::ssize(outputs_) - 1);
  if (cell_ != nullptr)
    refuse("cell '{}': it is inside of cell '{}'; cells follow each other", name, cell_->list().name);
  if (request_ == nullptr) refuse("cell '{}': network{{...}} comes first", name);
  if (!is_text(lua, 2)) refuse("cell '{}': the prefix is a text", name);
  if (!cell_names_.insert(name).second) refuse("cell '{}': there is a cell with this name already", name);
  if (std::ssize(outputs_) >= kMaxCells) refuse("cell '{}': a network has at most {} cells", name, kMaxCells);
  const bool has_x = lua_islightuserdata(lua, 3);
  if (!has_x && !lua_isnil(lua, 3)) refuse("cell '{}': its last argument is the result of the cell before it", name);
  const Handle x = has_x ? to_handle(lua_touserdata(lua, 3)) : Handle{};
  if (!has_x && !outputs_.empty())
    refuse("cell '{}': its last argument is missing, the result of cell '{}'", name, last);
  if (has_x && (x.value != kOutput || x.cell != std::ssize(outputs_) - 1))
    refuse("cell '{}': it must read the result of the cell before it, '{}'", name, last);
  cell_ = std::make_unique<ListedCell>(name, text_at(lua, 2), has_x ? &outputs_.back() : nullptr,
                                       ListedCellSpec{.input = request_->input});
  return has_x ? Returned(Handle{.cell = std::ssize(outputs_), .value = 0}) : Returned();
}

Returned NetworkFileRun::end_cell(lua_State* lua) {
  const std::string name = cell_->list().name;
  if (!lua_islightuserdata(lua, 1)) refuse("cell '{}': its function must return the result of a layer", name);
  try {
    const std::unique_ptr<Cell> cell = cell_->finish(value_of_current_cell(lua, 1));
    for (const auto& entry : cell->memory().parameters())
      if (!parameter_names_.insert(entry.spec.name).second)
        refuse("there is a parameter '{}' already: layers need different names", excerpt(entry.spec.name));
    outputs_.push_back(cell->y().shape);
  } catch (const RequestError& error) {
    refuse("cell '{}': {}", name, error.what());
  }
  built_.list.cells.push_back(cell_->list());
  cell_.reset();
  return Handle{.cell = std::ssize(outputs_) - 1, .value = kOutput};
}

// The number of the value at this index of the stack, which must belong to the current cell.
std::int64_t NetworkFileRun::value_of_current_cell(lua_State* lua, int index) {
  const Handle handle = to_handle(lua_touserdata(lua, index));
  if (handle.value == kOutput || handle.cell != std::ssize(outputs_))
    refuse(
        "the value belongs to cell '{}'. Give it to this cell as the last argument of cell(...), and use the argument "
        "of the cell's function",
        cell_name(handle.cell));
  return handle.value;
}

Returned NetworkFileRun::add_layer(LayerCall call) {
  if (++num_layers_ > kMaxLayers) refuse("{}: a network has at most {} layers", call.function, kMaxLayers);
  return Handle{.cell = std::ssize(outputs_), .value = cell_->add(std::move(call))};
}

Returned NetworkFileRun::feature(lua_State* lua) {
  current("feature");
  if (!is_text(lua, 1)) refuse("feature: it needs a name, as in feature(\"image\")");
  return add_layer({.function = "feature", .name = text_at(lua, 1), .inputs = {}, .arguments = {}});
}

std::optional<Argument> read_table(lua_State* lua, int index) {
  std::vector<std::string> names;
  for (lua_Integer i = 1; lua_rawgeti(lua, index, i) == LUA_TSTRING; ++i) {
    names.push_back(text_at(lua, -1));
    lua_settop(lua, index);
  }
  const bool has_number = names.size() == 1 && lua_type(lua, -1) == LUA_TNUMBER;
  const double size = has_number ? lua_tonumber(lua, -1) : 0;
  lua_settop(lua, index);
  if (!has_number) return names.empty() ? std::nullopt : std::optional<Argument>(names);
  using Kind = InitialValues::Kind;
  const Kind kind = names[0] == "normal" ? Kind::kNormal : names[0] == "uniform" ? Kind::kUniform : Kind::kConstant;
  return InitialValues{kind, size};
}

// The argument on top of the stack.
Argument read_argument(lua_State* lua, const std::string& name) {
  const int index = lua_gettop(lua);
  if (lua_isinteger(lua, index)) return std::int64_t{lua_tointegerx(lua, index, nullptr)};
  if (lua_type(lua, index) == LUA_TNUMBER) return lua_tonumberx(lua, index, nullptr);
  if (lua_isboolean(lua, index)) return lua_toboolean(lua, index) != 0;
  if (lua_istable(lua, index))
    if (std::optional<Argument> read = read_table(lua, index)) return *read;
  refuse("the argument '{}' is a {}, which no layer takes", excerpt(name), lua_typename(lua, lua_type(lua, index)));
}

// Reads the last part of a call: a table, or the first argument alone.
void NetworkFileRun::read_arguments(lua_State* lua, int index, const LayerFunction& function, LayerCall& call) const {
  const std::string first = function.arguments.empty() ? "" : function.arguments.front().name;
  if (!lua_istable(lua, index)) {
    if (first.empty()) refuse("it takes no arguments after its inputs");
    call.arguments[first] = read_argument(lua, first);
    return;
  }
  for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_settop(lua, index + 1)) {
    const bool is_first =
        lua_isinteger(lua, index + 1) && lua_tointegerx(lua, index + 1, nullptr) == 1 && !first.empty();
    if (!is_first && !is_text(lua, index + 1)) refuse("only its first argument may be given without a name");
    const std::string name = is_first ? first : text_at(lua, index + 1);
    if (call.arguments.contains(name)) refuse("the argument '{}' is given twice", excerpt(name));
    call.arguments[name] = read_argument(lua, name);
  }
}

// function([name,] input, ..., [{arguments} or the first argument])
Returned NetworkFileRun::layer(lua_State* lua) {
  const LayerFunction& function =
      layer_functions()[static_cast<std::size_t>(lua_tointegerx(lua, lua_upvalueindex(2), nullptr))];
  current(function.name.c_str());
  LayerCall call{.function = function.name, .name = {}, .inputs = {}, .arguments = {}};
  try {
    const int end = lua_gettop(lua);
    int index = 1;
    if (function.has_name) {
      if (!is_text(lua, 1))
        refuse("its first argument is the name of its parameters, as in {}(\"name\", x)", function.name);
      call.name = text_at(lua, index++);
    }
    for (; index <= end && lua_islightuserdata(lua, index); ++index)
      call.inputs.push_back(value_of_current_cell(lua, index));
    if (call.inputs.empty())
      refuse("its {} argument must be a value: the result of a layer, or the argument of the cell's function",
             function.has_name ? "second" : "first");
    if (index < end) refuse("{} arguments follow its inputs; give them in one table", end - index + 1);
    if (index == end && !lua_isnil(lua, index)) read_arguments(lua, index, function, call);
  } catch (const RequestError& error) {
    refuse("{}: {}", function.name, error.what());
  }
  return add_layer(std::move(call));
}

Returned NetworkFileRun::sum(lua_State* lua) {
  current("+");
  LayerCall call{.function = "add", .name = {}, .inputs = {}, .arguments = {}};
  for (const int index : {1, 2}) {
    if (!lua_islightuserdata(lua, index)) refuse("+: both sides must be values of layers");
    call.inputs.push_back(value_of_current_cell(lua, index));
  }
  return add_layer(std::move(call));
}

Returned NetworkFileRun::property(lua_State* lua) {
  const Handle handle = to_handle(lua_touserdata(lua, 1));
  const bool is_past = handle.value != kOutput && handle.cell != std::ssize(outputs_);
  if (is_past || (handle.value != kOutput && cell_ == nullptr)) refuse("the value belongs to a cell that is finished");
  const Shape& shape = shape_of(handle);
  const std::string name = is_text(lua, 2) ? text_at(lua, 2) : "";
  if (name == "channels") return shape.c;
  if (name == "height" || name == "length") return shape.h;
  if (name == "width") return shape.w;
  refuse("a value has channels, height, width and length, but no '{}'", excerpt(name));
}

}  // namespace

NetworkDeclaration read_declaration(const NetworkSource& source) {
  NetworkFileRun run(source, nullptr);
  run.run();
  return run.declaration();
}

BuiltNetwork run_network_file(const NetworkSource& source, const NetworkRequest& request) {
  NetworkFileRun run(source, &request);
  run.run();
  return run.result();
}

std::map<std::string, std::string> match_form(std::string_view form, std::string_view name) {
  std::map<std::string, std::string> values;
  while (true) {
    const std::size_t open = form.find('{');
    if (!name.starts_with(form.substr(0, open))) return {};
    if (open == std::string_view::npos) return name.size() == form.size() ? values : decltype(values){};
    const std::size_t close = form.find('}', open);
    if (close == std::string_view::npos) return {};
    name.remove_prefix(open);
    const std::string key(form.substr(open + 1, close - open - 1));
    form.remove_prefix(close + 1);
    const std::string_view next = form.substr(0, form.find('{'));
    const std::size_t end = next.empty() ? name.size() : name.find(next);
    if (end == 0 || end == std::string_view::npos) return {};
    values[key] = std::string(name.substr(0, end));
    name.remove_prefix(end);
  }
}

}  // namespace convoy
