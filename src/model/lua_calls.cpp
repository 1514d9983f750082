/// Results and errors on their way from C++ to Lua.
#include "model/lua_calls.h"

#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace convoy {

std::string LuaContext::placed(lua_State* lua, const std::string& message) const {
  std::vector<int> lines;
  lua_Debug frame{};
  for (int level = 0; lua_getstack(lua, level, &frame) != 0; ++level) {
    lua_getinfo(lua, "Sl", &frame);
    if (std::string_view(frame.short_src) == kFileInLua)
      lines.push_back(frame.currentline);
    else if (!lines.empty())
      break;  // cell(), which called the function of the file
  }
  if (lines.empty()) return last_line > 0 ? fmt::format("{}:{}: {}", file, last_line, message) : file + ": " + message;
  const std::span<const int> callers = std::span(lines).subspan(1);
  return fmt::format("{}:{}: {}", file, lines.front(), message) +
         (callers.empty() ? "" : fmt::format(" (called from line {})", fmt::join(callers, ", from line ")));
}

std::string text_at(lua_State* lua, int index) {
  std::size_t size = 0;
  const char* const text = lua_tolstring(lua, index, &size);
  return {text, size};
}

std::string kind_at(lua_State* lua, int index) {
  if (is_text(lua, index)) return "a text";
  if (lua_isnoneornil(lua, index)) return "nil";
  if (lua_isboolean(lua, index)) return "true or false";
  if (lua_islightuserdata(lua, index)) return "the result of a layer";
  return fmt::format("a {}", lua_typename(lua, lua_type(lua, index)));
}

int finish_call(lua_State* lua, LuaContext& context, bool failed) {
  if (failed) {
    lua_pushlstring(lua, context.error.data(), context.error.size());
    return lua_error(lua);
  }
  const Returned& returned = context.returned;
  if (std::holds_alternative<std::monostate>(returned)) return 0;
  if (const auto* const whole = std::get_if<std::int64_t>(&returned)) lua_pushinteger(lua, *whole);
  if (const auto* const number = std::get_if<double>(&returned)) lua_pushnumber(lua, *number);
  if (const auto* const flag = std::get_if<bool>(&returned)) lua_pushboolean(lua, *flag ? 1 : 0);
  if (const auto* const text = std::get_if<std::string>(&returned)) lua_pushlstring(lua, text->data(), text->size());
  if (void* const* const pointer = std::get_if<void*>(&returned)) lua_pushlightuserdata(lua, *pointer);
  return 1;
}

}  // namespace convoy
