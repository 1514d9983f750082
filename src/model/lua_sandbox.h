/// A Lua interpreter for files of others: without access to the machine, with limits on memory and time, and with the
/// same result on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct lua_State;
struct lua_Debug;

namespace convoy {

class LuaSandbox {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;  ///< memory of the file's values
  static constexpr double kMaxSeconds = 1.5;                       ///< processor time
  static constexpr std::int64_t kMaxInstructions = 50'000'000;
  static constexpr const char* kPrelude = "prelude";  ///< the text with this name has no lines in messages

  /// Throws std::bad_alloc if there is no memory for the interpreter.
  LuaSandbox();
  ~LuaSandbox();
  LuaSandbox(const LuaSandbox&) = delete;
  LuaSandbox& operator=(const LuaSandbox&) = delete;

  lua_State* state() const { return state_; }

  /// Calls the function below its `num_arguments` arguments on the stack, all of which are removed, and leaves
  /// `num_results` results. Throws RequestError with Lua's message, or with the limit that was reached and the line.
  void call(int num_arguments, int num_results);
  /// Leaves the function on the stack that runs `text`, which errors call `name`. Throws RequestError, with the line,
  /// if the text is no Lua. Compiled Lua is refused.
  void load(const std::string& text, const std::string& name);

 private:
  struct Limits;

  static void* allocate(void* limits, void* block, std::size_t old_size, std::size_t new_size);
  static void count_instructions(lua_State* state, lua_Debug* event);
  void check(int status);

  std::unique_ptr<Limits> limits_;
  lua_State* state_ = nullptr;
};

}  // namespace convoy
