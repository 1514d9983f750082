/// Calls of layer functions, and the values that they pass.
#include "model/file_cells.h"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "convoy/base/features.h"
#include "convoy/base/text.h"

#include "model/layer_functions.h"

namespace convoy {

namespace {

constexpr std::int64_t kOutput = 0xffffff;  // the number of a cell's output, in a handle

// A text has one of three forms: as it is, with BERT's marks, or as a pair of spans with masked words.
int form_of_text(std::string_view feature) {
  if (feature.starts_with("marked_")) return 1;
  return feature.starts_with("pair_") || feature.starts_with("masked_") || feature.starts_with("next_") ? 2 : 0;
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
  using Values = InitialValues::Kind;
  const auto kind = names[0] == "normal"    ? Values::kNormal
                    : names[0] == "uniform" ? Values::kUniform
                                            : Values::kConstant;
  return InitialValues{kind, size};
}

// The argument on top of the stack. A text becomes a list of names, which no other argument can be.
Argument read_argument(lua_State* lua, const LayerFunction& function, const std::string& name) {
  const int index = lua_gettop(lua);
  if (lua_isinteger(lua, index)) return std::int64_t{lua_tointegerx(lua, index, nullptr)};
  if (lua_type(lua, index) == LUA_TNUMBER) return lua_tonumberx(lua, index, nullptr);
  if (lua_isboolean(lua, index)) return lua_toboolean(lua, index) != 0;
  if (is_text(lua, index)) return std::vector{text_at(lua, index)};
  if (lua_istable(lua, index))
    if (std::optional<Argument> read = read_table(lua, index)) return *read;
  refuse("{} must be {}, not {}", excerpt(name), name_of(find_argument(function, name).kind), kind_at(lua, index));
}

// Reads the last part of a call: a table, or the first argument alone.
void read_arguments(lua_State* lua, int index, const LayerFunction& function, LayerCall& call) {
  const std::string first = function.arguments.empty() ? "" : function.arguments.front().name;
  if (!lua_istable(lua, index)) {
    if (first.empty()) refuse("it takes no arguments after its inputs");
    call.arguments[first] = read_argument(lua, function, first);
    return;
  }
  for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_settop(lua, index + 1)) {
    const bool is_first =
        lua_isinteger(lua, index + 1) && lua_tointegerx(lua, index + 1, nullptr) == 1 && !first.empty();
    if (!is_first && !is_text(lua, index + 1)) refuse("only its first argument may be given without a name");
    const std::string name = is_first ? first : text_at(lua, index + 1);
    if (call.arguments.contains(name)) refuse("the argument '{}' is given twice", excerpt(name));
    call.arguments[name] = read_argument(lua, function, name);
  }
}

}  // namespace

// A value as Lua has it: a pointer that points nowhere.
struct FileCells::Handle {
  std::int64_t cell = 0;   // from 0
  std::int64_t value = 0;  // its number in the cell, or kOutput

  void* pointer() const {
    const std::int64_t bits = ((cell + 1) << 24) | value;
    return reinterpret_cast<void*>(bits);  // NOLINT(performance-no-int-to-ptr)
  }
  static Handle of(const void* pointer) {
    const auto bits = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer));
    return {.cell = (bits >> 24) - 1, .value = bits & kOutput};
  }
};

std::string FileCells::cell_name(std::int64_t cell) const {
  const auto& cells = list_.cells;
  return cell < std::ssize(cells) ? cells[static_cast<std::size_t>(cell)].name : cell_->list().name;
}

void FileCells::check_inside(const char* what) const {
  if (cell_ == nullptr) refuse("{}: a layer belongs to a cell: call it in the function of cell(...)", what);
}

void FileCells::check_input(const std::string& name, bool has_x, const Handle& x) const {
  const std::string last = outputs_.empty() ? "" : cell_name(std::ssize(outputs_) - 1);
  if (!has_x && !outputs_.empty())
    refuse("cell '{}': its last argument is missing, the result of cell '{}'", name, last);
  if (has_x && (x.value != kOutput || x.cell != std::ssize(outputs_) - 1))
    refuse("cell '{}': it must read the result of the cell before it, '{}'", name, last);
  if (has_x && outputs_.back().kind != ValueKind::kNumbers)
    refuse("cell '{}': no cell can follow '{}', whose output is {}", name, last, name_of(outputs_.back().kind));
}

Returned FileCells::begin_cell(lua_State* lua) {
  lua_Debug body{};
  lua_getinfo(lua, ">S", &body);
  context_.last_line = body.linedefined;
  lua_settop(lua, 3);
  const std::string name = excerpt(text_at(lua, 1));
  if (!context_.is_declared) refuse("cell '{}': network{{...}} must come first", name);
  if (cell_ != nullptr)
    refuse("cell '{}': it is inside of cell '{}'; cells follow each other", name, cell_->list().name);
  if (!is_text(lua, 2)) refuse("cell '{}': the prefix is a text", name);
  if (!cell_names_.insert(name).second) refuse("cell '{}': there is a cell with this name already", name);
  if (std::ssize(outputs_) >= kMaxCells) refuse("cell '{}': a network has at most {} cells", name, kMaxCells);
  const bool has_x = lua_islightuserdata(lua, 3);
  if (!has_x && !lua_isnil(lua, 3)) refuse("cell '{}': its last argument is the result of the cell before it", name);
  check_input(name, has_x, has_x ? Handle::of(lua_touserdata(lua, 3)) : Handle{});
  cell_ = std::make_unique<ListedCell>(name, text_at(lua, 2), has_x ? &outputs_.back() : nullptr, spec_);
  return has_x ? Returned(Handle{.cell = std::ssize(outputs_), .value = 0}.pointer()) : Returned();
}

Returned FileCells::end_cell(lua_State* lua) {
  const std::string name = cell_->list().name;
  if (!lua_islightuserdata(lua, 1))
    refuse("cell '{}': its function must return the result of a layer{}", name,
           lua_isnoneornil(lua, 1) ? ", but returns nothing" : "");
  if (lua_gettop(lua) > 1)
    refuse("cell '{}': its function returns {} values, and a cell has one output", name, lua_gettop(lua));
  try {
    const std::unique_ptr<Cell> cell = cell_->finish(value_of_current_cell(lua, 1));
    for (const auto& entry : cell->memory().parameters())
      if (!parameter_names_.insert(entry.spec.name).second)
        refuse("there is a parameter '{}' already: layers need different names", excerpt(entry.spec.name));
    outputs_.push_back(cell_->output());
  } catch (const RequestError& error) {
    refuse("cell '{}': {}", name, error.what());
  }
  list_.cells.push_back(cell_->list());
  cell_.reset();
  return Handle{.cell = std::ssize(outputs_) - 1, .value = kOutput}.pointer();
}

// The number of the value at this index of the stack, which must belong to the current cell.
std::int64_t FileCells::value_of_current_cell(lua_State* lua, int index) const {
  const Handle handle = Handle::of(lua_touserdata(lua, index));
  if (handle.value == kOutput || handle.cell != std::ssize(outputs_))
    refuse(
        "the value belongs to cell '{}'. A cell reads only the result of the cell before it, by the argument of its "
        "function; layers that share other values belong into one cell",
        cell_name(handle.cell));
  return handle.value;
}

Returned FileCells::add_layer(LayerCall call) {
  if (++num_layers_ > kMaxLayers) refuse("{}: a network has at most {} layers", call.function, kMaxLayers);
  return Handle{.cell = std::ssize(outputs_), .value = cell_->add(std::move(call))}.pointer();
}

Returned FileCells::feature(lua_State* lua) {
  check_inside("feature");
  if (!is_text(lua, 1)) refuse("feature: it needs a name, as in feature(\"image\")");
  const std::string name = text_at(lua, 1);
  for (const std::string& other : features_)
    if (form_of_text(other) != form_of_text(name))
      refuse("feature: '{}' and '{}' belong to different forms of a text, and a network reads one form", other,
             excerpt(name));
  if (!features_.insert(name).second && !name.ends_with(features::kLength))
    refuse("feature: '{}' is read already. Only lengths may be read several times", excerpt(name));
  return add_layer({.function = kFeatureCall, .name = name, .inputs = {}, .arguments = {}});
}

Returned FileCells::layer(lua_State* lua) {
  const LayerFunction& function =
      layer_functions()[static_cast<std::size_t>(lua_tointegerx(lua, lua_upvalueindex(2), nullptr))];
  check_inside(function.name.c_str());
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
      refuse("its {} argument must be a value: the result of a layer, or the argument of the cell's function{}",
             function.has_name ? "second" : "first",
             lua_isnoneornil(lua, index) ? ". It is nil: does a function lack 'return'?" : "");
    if (index < end)
      refuse("{} arguments follow its inputs; give them in one table, as in {{{}}}", end - index + 1,
             function.arguments.size() < 2
                 ? "..."
                 : fmt::format("{} = ..., {} = ...", function.arguments[0].name, function.arguments[1].name));
    if (index == end && !lua_isnil(lua, index)) read_arguments(lua, index, function, call);
  } catch (const RequestError& error) {
    refuse("{}: {}", describe(call), error.what());
  }
  return add_layer(std::move(call));
}

// Adds the layer of an operator: `function` of two values, or `function_of_number`, whose argument is the number.
Returned FileCells::combine(lua_State* lua, const char* sign, const char* function, const char* function_of_number) {
  check_inside(sign);
  LayerCall call{.function = function, .name = {}, .inputs = {}, .arguments = {}};
  for (const int index : {1, 2}) {
    if (lua_islightuserdata(lua, index)) {
      call.inputs.push_back(value_of_current_cell(lua, index));
    } else if (lua_type(lua, index) == LUA_TNUMBER) {
      call.function = function_of_number;
      call.arguments[find_layer_function(function_of_number)->arguments.front().name] =
          lua_tonumberx(lua, index, nullptr);
    } else {
      refuse("{}: each side must be a value of a layer or a number", sign);
    }
  }
  return add_layer(std::move(call));
}

Returned FileCells::sum(lua_State* lua) {
  return combine(lua, "+", "add", "shift");
}

Returned FileCells::product(lua_State* lua) {
  return combine(lua, "*", "multiply", "scale");
}

Returned FileCells::no_operator(lua_State*) {
  refuse(
      "values have the operators + and * alone: write a + -1 * b for a difference, 0.5 * x for a half, tostring(x) for "
      "a text");
}

// Null for a value inside of a finished cell.
const Shape* FileCells::find_shape(const Handle& handle) const {
  if (handle.value == kOutput) return &outputs_[static_cast<std::size_t>(handle.cell)].shape;
  return cell_ != nullptr && handle.cell == std::ssize(outputs_) ? &cell_->shape_of(handle.value) : nullptr;
}

Returned FileCells::value_text(lua_State* lua) {
  const Shape* const shape = find_shape(Handle::of(lua_touserdata(lua, 1)));
  return shape == nullptr ? "value of a finished cell"
                          : fmt::format("value (N,{},{},{})", shape->h, shape->w, shape->c);
}

Returned FileCells::property(lua_State* lua) {
  const Shape* const found = find_shape(Handle::of(lua_touserdata(lua, 1)));
  if (found == nullptr) refuse("the value belongs to a cell that is finished");
  const Shape& shape = *found;
  const std::string name = is_text(lua, 2) ? text_at(lua, 2) : "";
  if (name == "channels") return shape.c;
  if (name == "height" || name == "length") return shape.h;
  if (name == "width") return shape.w;
  refuse("a value has channels, height, width and length, but no '{}'", excerpt(name));
}

NetworkList FileCells::take_list(lua_State* lua) {
  const bool is_value = lua_islightuserdata(lua, -1);
  const Handle handle = is_value ? Handle::of(lua_touserdata(lua, -1)) : Handle{};
  if (!is_value || handle.value != kOutput || handle.cell != std::ssize(outputs_) - 1)
    refuse("{}: a file ends with 'return' and the result of its last cell", context_.file);
  const CellList& last = list_.cells.back();
  if (outputs_.back().kind == ValueKind::kNumbers)
    refuse("{}:{}: the last cell, '{}', must end with logits(...) or objectives(...), not with {}", context_.file,
           context_.last_line, last.name, last.layers.back().function);
  return std::move(list_);
}

}  // namespace convoy
