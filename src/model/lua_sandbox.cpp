/// Lua's allocator and its hook enforce the limits; its libraries are opened by those who need them.
#include "model/lua_sandbox.h"

#include <cstdlib>
#include <ctime>
#include <new>

#include <fmt/core.h>
#include <lua.hpp>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy {

namespace {

constexpr int kInstructionsPerCheck = 200;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

struct LuaSandbox::Limits {
  std::size_t bytes = 0;
  std::int64_t instructions = 0;
  double start_seconds = processor_seconds();
};

LuaSandbox::LuaSandbox() : limits_(std::make_unique<Limits>()), state_(lua_newstate(allocate, limits_.get())) {
  if (state_ == nullptr) throw std::bad_alloc();
  lua_sethook(state_, count_instructions, LUA_MASKCOUNT, kInstructionsPerCheck);
}

LuaSandbox::~LuaSandbox() {
  lua_close(state_);
}

void* LuaSandbox::allocate(void* limits, void* block, std::size_t old_size, std::size_t new_size) {
  auto& bytes = static_cast<Limits*>(limits)->bytes;
  const std::size_t held = block == nullptr ? 0 : old_size;  // without a block, old_size is the kind of object
  if (new_size == 0) {
    std::free(block);
    bytes -= held;
    return nullptr;
  }
  if (new_size > held && bytes + (new_size - held) > kMaxBytes) return nullptr;
  void* const moved = std::realloc(block, new_size);
  if (moved != nullptr) bytes = bytes - held + new_size;
  return moved;
}

// Only C functions of Lua have frames here, so that an error leaves no destructor out.
void LuaSandbox::count_instructions(lua_State* state, lua_Debug*) {
  void* limits = nullptr;
  lua_getallocf(state, &limits);
  auto& count = *static_cast<Limits*>(limits);
  count.instructions += kInstructionsPerCheck;
  if (count.instructions > kMaxInstructions)
    luaL_error(state, "the file needs more than %d million instructions: is there a loop without an end?",
               static_cast<int>(kMaxInstructions / 1'000'000));
  if (processor_seconds() - count.start_seconds > kMaxSeconds)
    luaL_error(state, "the file needs more than %f seconds of processor time", kMaxSeconds);
}

void LuaSandbox::check(int status) {
  if (status == LUA_OK) return;
  if (status == LUA_ERRMEM)
    refuse("the file needs more than {} of memory for its values", human_bytes(static_cast<std::int64_t>(kMaxBytes)));
  // Only text: a number would be converted, which takes memory.
  const bool is_text = lua_type(state_, -1) == LUA_TSTRING;
  const std::string message = is_text ? lua_tostring(state_, -1) : "the file ends with an error that is no text";
  lua_settop(state_, 0);
  refuse("{}", message);
}

void LuaSandbox::call(int num_arguments, int num_results) {
  check(lua_pcall(state_, num_arguments, num_results, 0));
}

void LuaSandbox::load(const std::string& text, const std::string& name) {
  check(luaL_loadbufferx(state_, text.data(), text.size(), ("=" + name).c_str(), "t"));
}

}  // namespace convoy
