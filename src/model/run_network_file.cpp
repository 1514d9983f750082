/// Runs a file: opens Lua, gives the file its functions, and takes what it has built.
#include "model/run_network_file.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/print.h"
#include "convoy/base/special_tokens.h"
#include "convoy/base/text.h"

#include "model/built_in_networks.h"
#include "model/file_cells.h"
#include "model/file_parameters.h"
#include "model/layer_functions.h"
#include "model/lua_calls.h"
#include "model/lua_hints.h"
#include "model/lua_sandbox.h"

namespace convoy {

namespace {

constexpr lua_Integer kMaxUsual = 65536;    // size of images, and number of classes, that a file declares as usual
constexpr lua_Integer kMaxExtents = 4;      // of an array
constexpr std::int64_t kMaxPrinted = 1000;  // lines that a file may print

bool is_count(lua_State* lua, int index) {
  const lua_Integer count = lua_isinteger(lua, index) ? lua_tointegerx(lua, index, nullptr) : 0;
  return count >= 1 && count <= kMaxUsual;
}

// Reads a number, or a list of 1 to 4 numbers, at the top of the stack, which is `index`. Returns an empty list for
// anything else.
std::vector<std::int64_t> read_extents(lua_State* lua, int index) {
  if (is_count(lua, index)) return {lua_tointegerx(lua, index, nullptr)};
  std::vector<std::int64_t> extents;
  if (!lua_istable(lua, index)) return extents;
  bool are_counts = true;
  for (lua_Integer i = 1; lua_rawgeti(lua, index, i) != LUA_TNIL && are_counts; ++i, lua_settop(lua, index)) {
    are_counts = i <= kMaxExtents && is_count(lua, index + 1);
    extents.push_back(lua_tointegerx(lua, index + 1, nullptr));
  }
  lua_settop(lua, index);
  return are_counts ? extents : std::vector<std::int64_t>();
}

// Whether a network that declares to read this kind of samples can read these. A single array with rows and columns is
// an image.
bool can_read(const std::string& reads, const InputShape& input) {
  const auto* const arrays = std::get_if<ArrayShapes>(&input);
  return reads == kind_of(input) || (reads == input_kinds::kImages && arrays != nullptr && arrays->image() != nullptr);
}

// Prints what a file has printed. A command may run a file several times, which print the same.
void show(const std::string& printed) {
  static std::string last;
  if (printed != last) print_text(printed);
  last = printed;
}

// Returns the text without the byte-order mark that some editors write at its beginning.
std::string_view without_mark(std::string_view text) {
  return text.substr(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
}

// Ends a run whose declaration alone is wanted.
class Declared : public std::exception {};

class NetworkFileRun {
 public:
  NetworkFileRun(const NetworkSource& source, const NetworkRequest& request, bool declares_only)
      : source_(source),
        request_(request),
        declares_only_(declares_only),
        context_{.file = source.name},
        parameters_(request.settings, context_),
        cells_({.input = request.input, .num_classes = request.num_classes, .target = request.target}, context_) {}

  BuiltNetwork run();
  const NetworkDeclaration& declaration() const { return declaration_; }
  LuaContext& context() { return context_; }

  // The functions that files call.
  Returned declare(lua_State* lua);
  Returned refuse_request(lua_State* lua);
  Returned unknown_global(lua_State* lua);
  Returned print(lua_State* lua);

 private:
  static int open(lua_State* lua);
  static int set_string_methods(lua_State* lua);
  void add_values_type(lua_State* lua);
  void add_functions(lua_State* lua);
  void add_input(lua_State* lua);
  void run_in(LuaSandbox& sandbox);
  [[noreturn]] void refuse_with_name(std::string message) const;

  const NetworkSource& source_;
  const NetworkRequest& request_;
  bool declares_only_ = false;
  LuaContext context_;
  FileParameters parameters_;
  FileCells cells_;
  NetworkDeclaration declaration_;
  std::string printed_;
  std::int64_t num_printed_ = 0;
};

// --- What the file finds. These functions may raise Lua's errors: they have no C++ objects -------------------------

int NetworkFileRun::set_string_methods(lua_State* lua) {
  lua_pushliteral(lua, "");
  lua_getmetatable(lua, -1);
  lua_pushvalue(lua, 1);
  lua_setfield(lua, -2, "__index");
  return 0;
}

// Values of cells are light userdata, which all have one metatable.
void NetworkFileRun::add_values_type(lua_State* lua) {
  lua_pushlightuserdata(lua, this);
  lua_newtable(lua);
  add_function<FileCells, &FileCells::sum>(lua, cells_, "__add");
  add_function<FileCells, &FileCells::product>(lua, cells_, "__mul");
  add_function<FileCells, &FileCells::property>(lua, cells_, "__index");
  for (const char* const other :
       {"__sub", "__div", "__idiv", "__mod", "__pow", "__unm", "__lt", "__le", "__len", "__concat"})
    add_function<FileCells, &FileCells::no_operator>(lua, cells_, other);
  lua_setmetatable(lua, -2);
  lua_pop(lua, 1);
}

void NetworkFileRun::add_functions(lua_State* lua) {
  for (const LayerFunction& function : layer_functions()) {
    lua_pushlightuserdata(lua, &cells_);
    lua_pushinteger(lua, &function - layer_functions().data());
    lua_pushcclosure(lua, guarded<FileCells, &FileCells::layer>, 2);
    lua_setfield(lua, -2, function.name.c_str());
  }
  add_function<FileCells, &FileCells::feature>(lua, cells_, "feature");
  add_function<FileParameters, &FileParameters::declare>(lua, parameters_, "parameter");
  add_function<NetworkFileRun, &NetworkFileRun::declare>(lua, *this, "network");
  add_function<NetworkFileRun, &NetworkFileRun::refuse_request>(lua, *this, "refuse");
}

void NetworkFileRun::add_input(lua_State* lua) {
  lua_pushinteger(lua, request_.num_classes);
  lua_setfield(lua, -2, "num_classes");
  lua_newtable(lua);
  const auto add_number = [lua](const char* name, std::int64_t number) {
    lua_pushinteger(lua, number);
    lua_setfield(lua, -2, name);
  };
  const auto* const text = std::get_if<TextShape>(&request_.input);
  const auto* const arrays = std::get_if<ArrayShapes>(&request_.input);
  if (const auto* const image = std::get_if<ImageShape>(&request_.input)) {
    add_number("height", image->h);
    add_number("width", image->w);
    add_number("channels", image->c);
  } else if (text != nullptr) {
    add_number("length", text->length);
    add_number("vocabulary", text->vocabulary);
    add_number("special_tokens", special_tokens::kCount);
  } else {
    if (arrays->inputs.size() == 1) {
      const Shape& only = arrays->inputs.front().shape;
      add_number("height", only.h);
      add_number("length", only.h);
      add_number("width", only.w);
      add_number("channels", only.c);
    }
    lua_newtable(lua);
    for (std::size_t i = 0; i < arrays->inputs.size(); ++i) {
      lua_pushstring(lua, arrays->inputs[i].name.c_str());
      lua_rawseti(lua, -2, static_cast<lua_Integer>(i) + 1);
    }
    lua_setfield(lua, -2, "names");
  }
  lua_pushstring(lua, kind_of(request_.input));
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
  run->add_values_type(lua);
  lua_newtable(lua);
  add_function<FileCells, &FileCells::begin_cell>(lua, run->cells_, "begin_cell");
  add_function<FileCells, &FileCells::end_cell>(lua, run->cells_, "end_cell");
  add_function<FileCells, &FileCells::value_text>(lua, run->cells_, "describe");
  add_function<NetworkFileRun, &NetworkFileRun::unknown_global>(lua, *run, "unknown_global");
  add_function<NetworkFileRun, &NetworkFileRun::print>(lua, *run, "print");
  lua_pushcfunction(lua, set_string_methods);
  lua_setfield(lua, -2, "set_string_methods");
  lua_newtable(lua);
  run->add_functions(lua);
  run->add_input(lua);
  lua_setfield(lua, -2, "globals");
  return 1;
}

// --- The run -------------------------------------------------------------------------------------------------------

void NetworkFileRun::run_in(LuaSandbox& sandbox) {
  lua_State* const lua = sandbox.state();
  lua_pushcfunction(lua, open);
  lua_pushlightuserdata(lua, this);
  sandbox.call(1, 1);
  sandbox.load(network_prelude(), LuaSandbox::kPrelude);
  lua_insert(lua, 1);
  sandbox.call(1, 1);
  const std::string text(without_mark(source_.text));
  try {
    sandbox.load(text, std::string(kFileInLua));
  } catch (const RequestError& error) {
    refuse("{}{}", error.what(), hint_for_syntax(error.what(), text));
  }
  lua_insert(lua, 1);
  lua_setupvalue(lua, 1, 1);  // its global variables
  sandbox.call(0, 1);
}

// Puts the file's name before the message, in place of Lua's name of it.
void NetworkFileRun::refuse_with_name(std::string message) const {
  if (message.starts_with(std::string(kFileInLua) + ':')) message.replace(0, kFileInLua.size(), source_.name);
  const bool is_placed = message == context_.error || message.starts_with(source_.name + ':');
  refuse("{}", printable(is_placed ? message : source_.name + ": " + message));
}

BuiltNetwork NetworkFileRun::run() {
  if (std::ssize(source_.text) > kMaxNetworkFileBytes)
    refuse("{}: the file is larger than {}", source_.name, human_bytes(kMaxNetworkFileBytes));
  LuaSandbox sandbox;
  try {
    run_in(sandbox);
  } catch (const RequestError& error) {
    if (context_.is_declared && declares_only_) return {};
    show(printed_);
    refuse_with_name(error.what());
  }
  if (declares_only_) refuse("{}: a file begins with network{{...}}", source_.name);
  show(printed_);
  NetworkList list = cells_.take_list(sandbox.state());
  parameters_.check_all_taken();
  return {.list = std::move(list), .parameters = parameters_.declared()};
}

Returned NetworkFileRun::unknown_global(lua_State* lua) {
  if (!is_text(lua, 2)) refuse("there is no such variable");
  const std::string name = text_at(lua, 2);
  std::vector<std::string> names = {"network", "parameter", "refuse",      "feature", "cell",    "input",
                                    "normal",  "uniform",   "num_classes", "print",   "constant"};
  for (const LayerFunction& function : layer_functions()) names.push_back(function.name);
  refuse("there is no function or variable '{}'.{}", excerpt(name), hint_for_name(name, names));
}

Returned NetworkFileRun::print(lua_State* lua) {
  if (++num_printed_ > kMaxPrinted) refuse("print: a file may print {} lines", kMaxPrinted);
  printed_ += excerpt(text_at(lua, 1)) + '\n';
  return {};
}

// network{names = {...}, form = ..., about = ..., image_size = ..., values = ..., classes = ...} returns the name of
// the network that is wanted.
Returned NetworkFileRun::declare(lua_State* lua) {
  if (context_.is_declared) refuse("network: it is declared twice");
  if (!lua_istable(lua, 1)) refuse("network: it needs a table, as in network{{about = \"...\"}}");
  lua_settop(lua, 1);
  for (lua_pushnil(lua); lua_next(lua, 1) != 0; lua_settop(lua, 2)) {
    const std::string key = is_text(lua, 2) ? text_at(lua, 2) : "";
    if (key == "names" && lua_istable(lua, 3)) {
      for (lua_Integer i = 1; lua_rawgeti(lua, 3, i) == LUA_TSTRING; ++i, lua_settop(lua, 3))
        declaration_.names.push_back(text_at(lua, 4));
    } else if (key == "form" && is_text(lua, 3)) {
      declaration_.form = text_at(lua, 3);
    } else if (key == "reads" && is_text(lua, 3)) {
      declaration_.reads = text_at(lua, 3);
    } else if (key == "about" && is_text(lua, 3)) {
      declaration_.about = text_at(lua, 3);
    } else if (key == "image_size" && is_count(lua, 3)) {
      declaration_.image_size = lua_tointegerx(lua, 3, nullptr);
    } else if (key == "values" && !read_extents(lua, 3).empty()) {
      declaration_.values = read_extents(lua, 3);
    } else if (key == "classes" && is_count(lua, 3)) {
      declaration_.num_classes = lua_tointegerx(lua, 3, nullptr);
    } else {
      refuse(
          "network: it has names (a list), form, reads and about (texts), image_size and classes (numbers from 1 to "
          "{}), values (such a number, or a list of up to 4), but no '{}'",
          kMaxUsual, excerpt(key));
    }
  }
  context_.is_declared = true;
  if (declares_only_) throw Declared();
  const std::string& reads = declaration_.reads;
  if (!reads.empty() && std::ranges::find(input_kinds::kAll, reads) == std::end(input_kinds::kAll))
    refuse("network: reads = \"{}\" must be \"{}\"", excerpt(reads), fmt::join(input_kinds::kAll, "\", \""));
  if (!reads.empty() && !can_read(reads, request_.input)) {
    const bool has_arrays = std::holds_alternative<ArrayShapes>(request_.input);
    throw Refusal(
        fmt::format("the network reads {0}, and the data holds {1}{2}. Give a network of {1}{3}, or a data set of {0}.",
                    reads, kind_of(request_.input), has_arrays ? ": " + to_string(request_.input) : "",
                    has_arrays ? ", such as mlp" : ""));
  }
  if (!request_.name.empty()) return request_.name;
  return parameters_.take("name", declaration_.names.empty() ? "" : declaration_.names.front());
}

Returned NetworkFileRun::refuse_request(lua_State* lua) {
  if (!is_text(lua, 1)) refuse("refuse: it needs the text of a message");
  throw Refusal(text_at(lua, 1));
}

}  // namespace

NetworkDeclaration read_declaration(const NetworkSource& source) {
  const NetworkRequest request;
  NetworkFileRun run(source, request, /*declares_only=*/true);
  run.run();
  return run.declaration();
}

BuiltNetwork run_network_file(const NetworkSource& source, const NetworkRequest& request) {
  return NetworkFileRun(source, request, /*declares_only=*/false).run();
}

NetworkSettings match_form(std::string_view form, std::string_view name) {
  NetworkSettings values;
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

namespace {

// Calls run(), and puts the network's key before the message of an error.
template <typename Run>
auto with_key(const NetworkRequest& request, const Run& run) try {
  return run();
} catch (const RequestError& error) {
  const std::string& name = request.file ? request.file->name : request.name;
  if (std::string_view(error.what()).starts_with(name + ':')) throw;  // with its line
  refuse("model.{} = {}: {}", request.file ? "file" : "name", name, error.what());
}

}  // namespace

NetworkDeclaration find_declaration(const NetworkRequest& request) {
  if (request.file) return with_key(request, [&] { return read_declaration(*request.file); });
  NetworkSettings settings;
  return find_built_in_network(request.name, settings).declaration;
}

BuiltNetwork build_network_list(const NetworkRequest& given) {
  NetworkRequest request = given;
  const NetworkSource& source = given.file ? *given.file : find_built_in_network(given.name, request.settings).source;
  if (given.file) request.name.clear();
  BuiltNetwork built = with_key(given, [&] { return run_network_file(source, request); });
  built.source = source;
  return built;
}

}  // namespace convoy
