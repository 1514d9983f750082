/// The emulated multiprocessor: fibers, the states in which they wait, and the error if no thread can continue.
#include "emulation/machine.h"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cuda_runtime.h>
#include <fmt/core.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace convoy::emulation {

namespace {

constexpr std::size_t kStackBytes = 256 << 10;  // reserved; memory that is not touched costs nothing
constexpr unsigned kLanes = 32;

using boost::context::fiber;
using boost::context::stack_context;

/// A fiber's stack, whose bounds AddressSanitizer must know.
class Stack {
 public:
  explicit Stack(stack_context& known) : known_(known) {}
  stack_context allocate() { return known_ = boost::context::protected_fixedsize_stack(kStackBytes).allocate(); }
  void deallocate(stack_context& stack) { boost::context::protected_fixedsize_stack(kStackBytes).deallocate(stack); }

 private:
  stack_context& known_;
};

/// AddressSanitizer keeps its own account of the stack in use; this tells it of each change.
struct StackAccount {
  void* fake_stack = nullptr;
  const void* bottom = nullptr;
  std::size_t size = 0;

  /// Must be called before leaving this stack for `other`; with `ends`, for the last time.
  void leave_for([[maybe_unused]] const StackAccount& other, [[maybe_unused]] bool ends = false) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(ends ? nullptr : &fake_stack, other.bottom, other.size);
#endif
  }
  /// Must be called after arriving on this stack from `other`.
  void arrive_from([[maybe_unused]] StackAccount& other) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_stack, &other.bottom, &other.size);
#endif
  }
};

/// The exception that ends a thread whose block has failed.
struct Abandoned {};

enum class State { kReady, kAtBarrier, kInExchange, kDone };

struct Thread {
  fiber own, scheduler;
  stack_context stack = {};
  StackAccount account;
  State state = State::kDone;
  CallSite where;  ///< barrier or exchange in which it waits
  unsigned mask = 0, source = 0;
  std::uint64_t value = 0;
  Exchange received;
};

uint3 position_in(const Extent& extent, std::uint64_t index) {
  const std::uint64_t row = index / extent.x;
  return {static_cast<unsigned>(index % extent.x), static_cast<unsigned>(row % extent.y),
          static_cast<unsigned>(row / extent.y)};
}

std::uint64_t count_of(const Extent& extent) {
  return std::uint64_t{extent.x} * extent.y * extent.z;
}

class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    ending_ = true;
    for (std::size_t t = 0; t < threads_.size(); ++t) resume(t);
  }

  void run(const Extent& grid, const Extent& block, const std::function<void()>& body) {
    if (body_ != nullptr) throw Failure("a kernel starts another: not emulated");
    body_ = &body;
    try {
      run_blocks(grid, block);
    } catch (...) {
      body_ = nullptr;
      throw;
    }
    body_ = nullptr;
  }

  void wait_for_block(const CallSite& where) {
    Thread& self = running("a barrier");
    self.where = where;
    self.state = State::kAtBarrier;
    ++num_at_barrier_;
    if (!release_barrier()) wait(self);
  }

  Exchange exchange_in_warp(unsigned mask, std::uint64_t value, unsigned source, const CallSite& where) {
    Thread& self = running("a shuffle");
    if ((mask >> lane() & 1) == 0)
      fail("lane {} takes part without being in its mask {:#x}, {}", lane(), mask, at(where));
    self.where = where;
    self.state = State::kInExchange;
    self.mask = mask;
    self.value = value;
    self.source = source;
    ++num_in_exchange_;
    if (!complete_exchange(mask, where)) wait(self);
    return self.received;
  }

  unsigned lane() const { return static_cast<unsigned>(running_ % kLanes); }

 private:
  void run_blocks(const Extent& grid, const Extent& block) {
    num_threads_ = count_of(block);
    while (threads_.size() < num_threads_) add_thread();
    gridDim = {grid.x, grid.y, grid.z};
    blockDim = {block.x, block.y, block.z};
    block_ = block;
    const std::uint64_t num_blocks = count_of(grid);
    const bool down = num_launches_++ % 2 == 1;
    for (std::uint64_t i = 0; i < num_blocks; ++i) {
      const std::uint64_t b = down ? num_blocks - 1 - i : i;
      blockIdx = position_in(grid, b);
      run_block(((b + num_launches_) & 1) == 0);
    }
  }

  void run_block(bool down) {
    for (std::size_t t = 0; t < num_threads_; ++t) threads_[t]->state = State::kReady;
    num_live_ = num_threads_;
    num_at_barrier_ = 0;
    num_in_exchange_ = 0;
    while (num_live_ > 0 && error_ == nullptr) {
      bool any = false;
      for (std::size_t i = 0; i < num_threads_ && error_ == nullptr; ++i) {
        const std::size_t t = down ? num_threads_ - 1 - i : i;
        if (threads_[t]->state != State::kReady) continue;
        any = true;
        resume(t);
      }
      if (!any) error_ = std::make_exception_ptr(Failure(stuck()));
    }
    if (error_ != nullptr) abandon();
  }

  /// Unwinds the threads that wait, and throws the error.
  void abandon() {
    const std::exception_ptr error = std::exchange(error_, nullptr);
    abandoned_ = true;
    for (std::size_t t = 0; t < num_threads_; ++t) {
      if (threads_[t]->state != State::kDone) resume(t);
    }
    abandoned_ = false;
    std::rethrow_exception(error);
  }

  void add_thread() {
    threads_.push_back(std::make_unique<Thread>());
    Thread& self = *threads_.back();
    self.own = fiber(std::allocator_arg, Stack(self.stack), [this, &self](fiber&& scheduler) {
      self.account.arrive_from(scheduler_account_);
      self.scheduler = std::move(scheduler);
      while (!ending_) {
        run_thread(self);
        pause(self);
      }
      self.account.leave_for(scheduler_account_, true);
      return std::move(self.scheduler);
    });
    self.account.size = self.stack.size;
    self.account.bottom = static_cast<const char*>(self.stack.sp) - self.stack.size;
  }

  void run_thread(Thread& self) {
    try {
      if (!abandoned_) (*body_)();
      end(self);
      check_nobody_waits_for(lane());
      release_barrier();
    } catch (const Abandoned&) {
      end(self);
    } catch (...) {
      if (self.state != State::kDone) end(self);
      error_ = std::current_exception();
    }
  }

  void end(Thread& self) {
    self.state = State::kDone;
    --num_live_;
  }

  void resume(std::size_t t) {
    Thread& thread = *threads_[t];
    running_ = t;
    threadIdx = position_in(block_, t);
    StackAccount unused;
    scheduler_account_.leave_for(thread.account);
    thread.own = std::move(thread.own).resume();
    scheduler_account_.arrive_from(unused);
    running_ = kNobody;
  }

  /// Returns when the scheduler resumes this thread.
  void pause(Thread& self) {
    self.account.leave_for(scheduler_account_);
    self.scheduler = std::move(self.scheduler).resume();
    self.account.arrive_from(scheduler_account_);
  }

  /// Pauses a thread inside a kernel. Throws Abandoned if its block has failed meanwhile.
  void wait(Thread& self) {
    pause(self);
    if (abandoned_) throw Abandoned();
  }

  Thread& running(const char* what) {
    if (running_ == kNobody) throw Failure(fmt::format("{} outside a kernel", what));
    return *threads_[running_];
  }

  /// Lets all live threads continue if all have reached the barrier. Returns whether they have.
  bool release_barrier() {
    if (abandoned_ || num_at_barrier_ == 0 || num_at_barrier_ < num_live_) return false;
    const Thread* first = nullptr;
    for (std::size_t t = 0; t < num_threads_; ++t) {
      Thread& thread = *threads_[t];
      if (thread.state != State::kAtBarrier) continue;
      if (first == nullptr) first = &thread;
      if (first->where != thread.where) {
        fail("threads meet at two barriers, {} and {}", at(first->where), at(thread.where));
      }
    }
    for (std::size_t t = 0; t < num_threads_; ++t) {
      if (threads_[t]->state == State::kAtBarrier) threads_[t]->state = State::kReady;
    }
    num_at_barrier_ = 0;
    return true;
  }

  /// Exchanges the values of the lanes of the running thread's mask if all have reached the call. Returns whether they
  /// have.
  bool complete_exchange(unsigned mask, const CallSite& where) {
    const std::size_t first = running_ / kLanes * kLanes;
    unsigned votes = 0;
    for (unsigned i = 0; i < kLanes; ++i) {
      if ((mask >> i & 1) == 0) continue;
      if (first + i >= num_threads_ || threads_[first + i]->state == State::kDone) {
        fail_without(i, mask, where);
      }
      const Thread& thread = *threads_[first + i];
      if (thread.state != State::kInExchange || thread.mask != mask || thread.where != where) return false;
      if (thread.value != 0) votes |= 1u << i;
    }
    for (unsigned i = 0; i < kLanes; ++i) {
      if ((mask >> i & 1) == 0) continue;
      Thread& thread = *threads_[first + i];
      if (thread.source >= kLanes || (mask >> thread.source & 1) == 0) {
        fail("lane {} asks lane {}, which is not in the mask {:#x}, {}", i, thread.source, mask, at(where));
      }
      thread.received = {threads_[first + thread.source]->value, votes};
    }
    for (unsigned i = 0; i < kLanes; ++i) {
      if ((mask >> i & 1) == 0) continue;
      threads_[first + i]->state = State::kReady;
      --num_in_exchange_;
    }
    return true;
  }

  /// Fails if a lane that ends is in the mask of a lane that waits, in whatever order the threads of a warp run.
  void check_nobody_waits_for(unsigned ended) const {
    if (abandoned_ || num_in_exchange_ == 0) return;
    const std::size_t first = running_ / kLanes * kLanes;
    for (std::size_t t = first; t < std::min<std::size_t>(first + kLanes, num_threads_); ++t) {
      const Thread& thread = *threads_[t];
      if (thread.state == State::kInExchange && (thread.mask >> ended & 1) != 0)
        fail_without(ended, thread.mask, thread.where);
    }
  }

  [[noreturn]] void fail_without(unsigned lane, unsigned mask, const CallSite& where) const {
    fail("lane {} of mask {:#x} has ended or never was, {}", lane, mask, at(where));
  }

  static std::string at(const CallSite& where) {
    return fmt::format("at {}:{} ({})", where.file, where.line, where.function);
  }

  template <typename... Values>
  [[noreturn]] void fail(fmt::format_string<Values...> format, Values&&... values) const {
    throw Failure(fmt::format("block ({},{},{}), thread ({},{},{}): {}", blockIdx.x, blockIdx.y, blockIdx.z,
                              threadIdx.x, threadIdx.y, threadIdx.z,
                              fmt::format(format, std::forward<Values>(values)...)));
  }

  /// The error text: "block (3,0,0) is stuck: of 32 threads; 31 wait in a barrier at reduce.cu:17 (sum); 1 wait in a
  /// shuffle at reduce.cu:12 (sum)".
  std::string stuck() const {
    std::map<std::string, std::int64_t> waiting;
    for (std::size_t t = 0; t < num_threads_; ++t) {
      const Thread& thread = *threads_[t];
      if (thread.state == State::kDone) {
        ++waiting["have ended"];
      } else {
        const char* what = thread.state == State::kAtBarrier ? "barrier" : "shuffle";
        ++waiting[fmt::format("wait in a {} {}", what, at(thread.where))];
      }
    }
    std::string text =
        fmt::format("block ({},{},{}) is stuck: of {} threads", blockIdx.x, blockIdx.y, blockIdx.z, num_threads_);
    for (const auto& [what, count] : waiting) text += fmt::format("; {} {}", count, what);
    return text;
  }

  static constexpr std::size_t kNobody = ~std::size_t{0};

  std::vector<std::unique_ptr<Thread>> threads_;  ///< the threads of the largest block so far, which run in each block
  StackAccount scheduler_account_;
  const std::function<void()>* body_ = nullptr;
  std::exception_ptr error_;
  Extent block_;
  std::size_t num_threads_ = 0, num_live_ = 0, num_at_barrier_ = 0, num_in_exchange_ = 0, running_ = kNobody;
  std::uint64_t num_launches_ = 0;
  bool abandoned_ = false, ending_ = false;
};

/// The machine by which kernels find their thread, as device code finds threadIdx.
Machine& machine() {
  thread_local Machine instance;
  return instance;
}

}  // namespace

void run_grid(const Extent& grid, const Extent& block, const std::function<void()>& thread) {
  machine().run(grid, block, thread);
}

void wait_for_block(const CallSite& where) {
  machine().wait_for_block(where);
}

Exchange exchange_in_warp(unsigned mask, std::uint64_t value, unsigned source, const CallSite& where) {
  return machine().exchange_in_warp(mask, value, source, where);
}

unsigned lane() {
  return machine().lane();
}

}  // namespace convoy::emulation
