/// The parameters that a network's file declares, and the values that the user gives them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/lua_calls.h"
#include "model/run_network_file.h"

namespace convoy {

class FileParameters {
 public:
  /// `settings`: the user's values by name. Both references must outlive this object.
  FileParameters(const NetworkSettings& settings, LuaContext& context) : settings_(settings), context_(context) {}

  LuaContext& context() { return context_; }

  /// The file's function parameter(name, value, about, [{min = ..., max = ...} or {"word", ...}]), which returns the
  /// value.
  Returned declare(lua_State* lua);
  /// Returns the user's value of a setting, and `otherwise` if there is none.
  std::string take(const std::string& name, const std::string& otherwise);
  /// Throws RequestError if the user has given a value to a parameter that the file does not declare.
  void check_all_taken() const;
  const std::vector<NetworkParameter>& declared() const { return declared_; }

 private:
  struct Range;

  Returned declare_checked(lua_State* lua);
  static Range read_range(lua_State* lua, int index);
  static void check_range(const std::string& name, double value, const Range& range);
  static std::string describe(const Range& range, const char* type);

  const NetworkSettings& settings_;
  LuaContext& context_;
  std::set<std::string> taken_;
  std::vector<NetworkParameter> declared_;
};

}  // namespace convoy
