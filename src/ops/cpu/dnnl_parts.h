/// Work for oneDNN in parts that depend only on its shape, each done by one thread, so that no bit depends on the
/// number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <omp.h>

#include "convoy/base/shape.h"

#include "ops/cpu/dnnl_call.h"

namespace convoy::ops::cpu {

/// sum[i] += parts[0][i], then parts[1][i], ...: `num` of them, `stride` floats apart.
void add_in_order(float* sum, const float* parts, std::int64_t count, std::int64_t num, std::int64_t stride,
                  int threads);

/// As many parts as threads that a rank usually has or, where these move too much, half as many.
constexpr std::int64_t kWantedParts = 8, kFewerParts = 4;

/// Whether dividing an operation of so many flop moves too many bytes beside its arithmetic: more than in a fifth of
/// its time, at the speeds of one thread of a Xeon with AMX.
inline bool moves_too_much(double bytes, double flop, DataType type) {
  const double flop_in_the_time_of_a_byte = type == DataType::kFloat32 ? 14 : 80;
  return bytes * flop_in_the_time_of_a_byte > flop / 5;
}

/// What a division of an operation costs and gives.
struct DivisionPrice {
  std::int64_t parts;
  double moved_bytes;
};

/// Whether `a` comes nearer to as many parts as are wanted or, where both are equally near, moves fewer bytes.
inline bool is_better(const DivisionPrice& a, const DivisionPrice& b, std::int64_t wanted) {
  const std::int64_t parts_of_a = std::min(a.parts, wanted), parts_of_b = std::min(b.parts, wanted);
  return parts_of_a != parts_of_b ? parts_of_a > parts_of_b : a.moved_bytes < b.moved_bytes;
}

/// Independent calls. As many threads as there are calls can share the work.
class DnnlParts {
 public:
  DnnlParts() = default;
  explicit DnnlParts(DnnlRuntime& runtime) : workspace_(&runtime.workspace()) {}

  /// Created for one thread (OneThread), if it is one of several.
  void add(DnnlCall call) {
    scratchpad_stride_ = std::max(scratchpad_stride_, round_up(call.scratchpad_bytes(), 64));
    calls_.push_back(std::move(call));
  }

  /// How much of the workspace's scratch memory a run overwrites, from its beginning: a scratchpad for each thread,
  /// which stays in its cache.
  std::int64_t scratchpad_bytes() const { return num_scratchpads() * scratchpad_stride_; }

  /// run_part(call, its number, the offset of its scratchpad) of all of them.
  template <typename RunPart>
  void run(const RunPart& run_part) {
    if (calls_.size() == 1) return run_part(calls_.front(), 0, 0);
    const bool is_one_a_thread = std::ssize(calls_) <= workspace_->threads();
    std::exception_ptr failure;  // of any: exceptions must not leave a parallel region
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
  std::int64_t scratchpad_stride_ = 0;  ///< from one thread's scratchpad to the next one's, bytes
};

}  // namespace convoy::ops::cpu
