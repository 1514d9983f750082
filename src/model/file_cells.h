/// The cells that a network's file builds: the functions that add cells and layers.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/listed_cell.h"
#include "model/lua_calls.h"

namespace convoy {

class FileCells {
 public:
  FileCells(ListedCellSpec spec, LuaContext& context) : spec_(std::move(spec)), context_(context) {}

  LuaContext& context() { return context_; }

  // The functions that files call, some of them through cell() of network_prelude.lua.
  Returned begin_cell(lua_State* lua);   ///< (name, prefix, x, body): the cell's input
  Returned end_cell(lua_State* lua);     ///< (y): the cell's output
  Returned feature(lua_State* lua);      ///< (name)
  Returned layer(lua_State* lua);        ///< ([name,] input, ..., [{arguments} or the first argument])
  Returned sum(lua_State* lua);          ///< a + b, or x + 0.5
  Returned product(lua_State* lua);      ///< a * b, or 2 * x
  Returned no_operator(lua_State* lua);  ///< any other operator
  Returned property(lua_State* lua);     ///< x.channels, x.height, x.width, x.length
  Returned value_text(lua_State* lua);   ///< (value): its text, "value (N,7,7,512)"

  /// The list of all cells, if the value on top of the stack is the output of the last one. Throws RequestError if not,
  /// or if the last cell gives neither logits nor objectives.
  NetworkList take_list(lua_State* lua);

 private:
  struct Handle;

  void check_input(const std::string& name, bool has_x, const Handle& x) const;
  Returned add_layer(LayerCall call);
  Returned combine(lua_State* lua, const char* sign, const char* function, const char* function_of_number);
  void check_inside(const char* what) const;
  std::int64_t value_of_current_cell(lua_State* lua, int index) const;
  std::string cell_name(std::int64_t cell) const;
  const Shape* find_shape(const Handle& handle) const;

  ListedCellSpec spec_;  // of all cells
  LuaContext& context_;
  NetworkList list_;
  std::unique_ptr<ListedCell> cell_;  // the cell that is being built
  std::vector<CellOutput> outputs_;   // of all finished cells
  std::set<std::string> cell_names_, parameter_names_, features_;
  std::int64_t num_layers_ = 0;
};

}  // namespace convoy
