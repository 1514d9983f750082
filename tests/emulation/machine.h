/// Runs a grid of threads on one core: each thread of a block is a fiber, and fibers change at barriers and shuffles.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>

namespace convoy::emulation {

struct Extent {
  unsigned x = 1, y = 1, z = 1;
};

/// What a GPU would answer with a hang, a wrong number or nothing at all.
class Failure : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Runs `thread` for every thread of every block, blocks one after the other. Blocks go up and down in turn from launch
/// to launch, threads from block to block: who relies on an order is found out. Throws what a thread throws, and
/// Failure where threads wait for others that never come.
void run_grid(const Extent& grid, const Extent& block, const std::function<void()>& thread);

/// Which barrier or exchange a thread waits in: the line that calls it, when current() is its default argument. As
/// std::source_location, which Clang 14 does not know; two calls in one line are not told apart.
struct CallSite {
  std::string_view file, function;
  int line = 0;

  static constexpr CallSite current(const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                                    int line = __builtin_LINE()) {
    return {.file = file, .function = function, .line = line};
  }
  bool operator==(const CallSite&) const = default;
};

// For the running thread.

/// Waits for all threads of the block that have not ended, at this very call.
void wait_for_block(const CallSite& where);

struct Exchange {
  std::uint64_t value = 0;  ///< the source's
  unsigned votes = 0;       ///< a bit for each lane of the mask whose value was not 0
};

/// Waits for all lanes of `mask`, at this very call, and hands over `value` of the lane `source`.
Exchange exchange_in_warp(unsigned mask, std::uint64_t value, unsigned source, const CallSite& where);

/// The running thread's index in its warp.
unsigned lane();

}  // namespace convoy::emulation
