/// How Lua calls C++: functions of network files are members of C++ classes.
///
/// Lua reports errors by longjmp, which must not pass over C++ destructors, and C++ exceptions must not pass Lua's
/// frames. So such a member calls only those functions of Lua that raise no errors: they neither take memory nor
/// convert values. It returns its result, or throws; guarded() hands the result or the message to Lua when no C++
/// object is left.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <variant>

#include <lua.hpp>

#include "convoy/base/error.h"

namespace convoy {

/// The result of a function for Lua; a pointer is a light userdata.
using Returned = std::variant<std::monostate, std::int64_t, double, bool, std::string, void*>;

/// The name by which Lua knows a file. Lua shortens long names, and messages show the whole path.
inline constexpr std::string_view kFileInLua = "network file";

/// What all functions of one file share.
struct LuaContext {
  std::string file;   ///< name of the file in messages: "models/my.lua"
  int last_line = 0;  ///< line for errors of a call that Lua does not know any more: return f(...) ends the caller
  Returned returned = {};
  std::string error = {};  ///< message of the function that has thrown

  bool is_declared = false;  ///< whether network{...} has been called

  /// Returns the message with the line of the file from which the current function was called, and the lines from which
  /// functions of the file called each other inside of a cell: "my.lua:14: MESSAGE (called from line 20)".
  std::string placed(lua_State* lua, const std::string& message) const;
};

/// A refusal whose message is for the user alone, without the line in the file.
class Refusal : public RequestError {
 public:
  using RequestError::RequestError;
};

inline bool is_text(lua_State* lua, int index) {
  return lua_type(lua, index) == LUA_TSTRING;
}
/// The text at this index, which must be one: a number would be converted in place.
std::string text_at(lua_State* lua, int index);
/// What is at this index, for messages: "a text", "a table", "the result of a layer".
std::string kind_at(lua_State* lua, int index);

/// Pushes context.returned, or raises context.error. No C++ object may be left in the caller's frame.
int finish_call(lua_State* lua, LuaContext& context, bool failed);

/// The function of Lua that calls a member function of `Owner`, whose address is the first upvalue. Owner::context()
/// gives the LuaContext.
template <typename Owner, Returned (Owner::*function)(lua_State*)>
int guarded(lua_State* lua) {
  auto* const owner = static_cast<Owner*>(lua_touserdata(lua, lua_upvalueindex(1)));
  LuaContext& context = owner->context();
  bool failed = true;
  try {
    context.returned = (owner->*function)(lua);
    failed = false;
  } catch (const Refusal& error) {
    context.error = error.what();
  } catch (const std::exception& error) {
    context.error = context.placed(lua, error.what());
  }
  return finish_call(lua, context, failed);
}

/// Adds a member function to the table on top of the stack. May raise Lua's errors.
template <typename Owner, Returned (Owner::*function)(lua_State*)>
void add_function(lua_State* lua, Owner& owner, const char* name) {
  lua_pushlightuserdata(lua, &owner);
  lua_pushcclosure(lua, guarded<Owner, function>, 1);
  lua_setfield(lua, -2, name);
}

}  // namespace convoy
