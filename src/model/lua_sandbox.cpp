/// Lua's allocator and its hook enforce the limits; its libraries are opened by those who need them.
#include "model/lua_sandbox.h"

#include <cstdlib>
#include <ctime>
#include <new>
#include <string_view>

#include <fmt/core.h>
#include <lua.hpp>

#include "convoy/base/error.h"

namespace convoy {

namespace {

constexpr int kInstructionsPerCheck = 200;
constexpr std::size_t kSlack = 4;  // the allocator, which knows no line, refuses this multiple of the memory
constexpr int kMaxMebibytes = LuaSandbox::kMaxBytes >> 20;
constexpr const char* kWithoutEnd = "is there a loop or a recursion without an end?";

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Raises the message on top of the stack, with the line of the innermost function that the prelude does not contain.
void raise(lua_State* state) {
  lua_Debug frame{};
  for (int level = 0; lua_getstack(state, level, &frame) != 0; ++level) {
    lua_getinfo(state, "Sl", &frame);
    if (frame.currentline <= 0 || std::string_view(frame.short_src) == LuaSandbox::kPrelude) continue;
    lua_pushfstring(state, "%s:%d: %s", frame.short_src, frame.currentline, lua_tostring(state, -1));
    break;
  }
  lua_error(state);
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
  if (new_size > held && bytes + (new_size - held) > kSlack * kMaxBytes) return nullptr;
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
  if (count.bytes > kMaxBytes) lua_gc(state, LUA_GCCOLLECT);
  if (count.bytes > kMaxBytes)
    lua_pushfstring(state, "the file needs more than %d MiB of memory for its values: %s", kMaxMebibytes, kWithoutEnd);
  else if (count.instructions > kMaxInstructions)
    lua_pushfstring(state, "the file needs more than %d million instructions: %s",
                    static_cast<int>(kMaxInstructions / 1'000'000), kWithoutEnd);
  else if (processor_seconds() - count.start_seconds > kMaxSeconds)
    lua_pushfstring(state, "the file needs more than %f seconds of processor time", kMaxSeconds);
  else
    return;
  raise(state);
}

void LuaSandbox::check(int status) {
  if (status == LUA_OK) return;
  if (status == LUA_ERRMEM)
    refuse("the file needs more than {} MiB of memory for its values: {}", kMaxMebibytes, kWithoutEnd);
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
