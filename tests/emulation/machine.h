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

/// An error of a kernel. A GPU would hang, give a wrong number, or not notice it at all.
class Failure : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Runs `thread` for every thread of every block, one block after the other. The order of blocks alternates from launch
/// to launch, that of threads from block to block, so that code fails that relies on an order. Throws what a thread
/// throws, and Failure if threads wait for others that never come.
void run_grid(const Extent& grid, const Extent& block, const std::function<void()>& thread);

/// The barrier or exchange in which a thread waits: the line that calls it, if current() is a default argument. It is
/// like std::source_location, which Clang 14 does not have. It does not distinguish two calls in one line.
struct CallSite {
  std::string_view file, function;
  int line = 0;

  static constexpr CallSite current(const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                                    int line = __builtin_LINE()) {
    return {.file = file, .function = function, .line = line};
  }
  bool operator==(const CallSite&) const = default;
};

// The functions below are called by the running thread of a kernel.

/// Waits until all threads of the block that have not ended are at this call. Throws Failure if they meet elsewhere.
void wait_for_block(const CallSite& where);

struct Exchange {
  std::uint64_t value = 0;  ///< value of the source lane
  unsigned votes = 0;       ///< a bit for each lane of the mask whose value was not 0
};

/// Waits until all lanes of `mask` are at this call. Returns the `value` of the lane `source`, and the votes of all.
Exchange exchange_in_warp(unsigned mask, std::uint64_t value, unsigned source, const CallSite& where);

/// The running thread's index in its warp.
unsigned lane();

}  // namespace convoy::emulation
