/// Divides an operation of oneDNN into parts that depend only on its shape. Each part is computed by one thread, so
/// that no bit depends on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <omp.h>

#include "convoy/base/shape.h"

#include "ops/cpu/onednn/dnnl_call.h"

namespace convoy::ops::cpu {

/// Adds parts[0][i], then parts[1][i], ... to sum[i], for i < count. There are `num` parts, which begin `stride` floats
/// apart.
void add_in_order(float* sum, const float* parts, std::int64_t count, std::int64_t num, std::int64_t stride,
                  int threads);

/// The wanted number of parts of an operation: kWantedParts, the usual number of threads of a rank, or kFewerParts if
/// kWantedParts would move too many bytes (moves_too_much()).
constexpr std::int64_t kWantedParts = 8, kFewerParts = 4;

/// Returns whether a division of an operation copies and adds up too many bytes: whether that takes more than a fifth
/// of the time of its `flop` floating-point operations, at the speeds of one thread of a Xeon with AMX.
inline bool moves_too_much(double bytes, double flop, DataType type) {
  const double flop_in_the_time_of_a_byte = type == DataType::kFloat32 ? 14 : 80;
  return bytes * flop_in_the_time_of_a_byte > flop / 5;
}

/// The number of parts into which an operation is divided, and the number of bytes that the division moves.
struct DivisionPrice {
  std::int64_t parts;
  double moved_bytes;
};

/// Returns whether division `a` is better than `b`: it has more parts, of which those above `wanted` do not count, or
/// as many and moves fewer bytes.
inline bool is_better(const DivisionPrice& a, const DivisionPrice& b, std::int64_t wanted) {
  const std::int64_t parts_of_a = std::min(a.parts, wanted), parts_of_b = std::min(b.parts, wanted);
  return parts_of_a != parts_of_b ? parts_of_a > parts_of_b : a.moved_bytes < b.moved_bytes;
}

/// Independent calls of oneDNN, the parts of an operation. Each call runs on one thread, several at the same time. A
/// single call runs on as many threads as it was created for.
class DnnlParts {
 public:
  DnnlParts() = default;
  explicit DnnlParts(DnnlRuntime& runtime) : workspace_(&runtime.workspace()) {}

  /// Adds a call. If there are several calls, each must have been created for one thread (OneThread).
  void add(DnnlCall call) {
    scratchpad_stride_ = std::max(scratchpad_stride_, round_up(call.scratchpad_bytes(), 64));
    calls_.push_back(std::move(call));
  }

  /// Returns the number of bytes that run() overwrites at the beginning of the workspace's scratch memory: a scratchpad
  /// for each thread, which stays in the thread's cache.
  std::int64_t scratchpad_bytes() const { return num_scratchpads() * scratchpad_stride_; }

  /// Calls run_part(call, index of the call, offset of its scratchpad in bytes) for all calls, on the workspace's
  /// threads. run_part must run the call. Rethrows one of the exceptions of calls.
  template <typename RunPart>
  void run(const RunPart& run_part) {
    if (calls_.size() == 1) return run_part(calls_.front(), 0, 0);
    const bool is_one_a_thread = std::ssize(calls_) <= workspace_->threads();
    std::exception_ptr failure;  // of any call: exceptions must not leave a parallel region
#pragma omp parallel for schedule(static) num_threads(workspace_->threads())
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      try {
        const std::size_t slot = is_one_a_thread ? i : static_cast<std::size_t>(omp_get_thread_num());
        run_part(calls_[i], static_cast<std::int64_t>(i), static_cast<std::int64_t>(slot) * scratchpad_stride_);
      } catch (...) {
#pragma omp critical
        failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
  }

 private:
  int num_scratchpads() const {
    return std::min(workspace_->threads(), static_cast<int>(calls_.size()));
  }

  const Workspace* workspace_ = nullptr;
  std::vector<DnnlCall> calls_;
  std::int64_t scratchpad_stride_ = 0;  ///< distance in bytes from one thread's scratchpad to the next one
};

}  // namespace convoy::ops::cpu
