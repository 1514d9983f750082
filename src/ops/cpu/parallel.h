/// Divides the iterations of loops among threads. Each thread gets a contiguous part, which depends only on the number
/// of iterations and of threads.
#pragma once

#include <cstdint>

#include <omp.h>

namespace convoy::ops::cpu {

inline constexpr std::int64_t kWorthThreads = 1 << 15;  // for fewer values, waking threads costs more than the loop

/// The indices begin, ..., end - 1.
struct Range {
  std::int64_t begin = 0, end = 0;
};

/// Divides 0, ..., count - 1 into `parts` parts and returns part number `index`. The sizes of parts differ by at most
/// one.
[[gnu::always_inline]] inline Range part_of(std::int64_t count, std::int64_t index, std::int64_t parts) {
  return {count * index / parts, count * (index + 1) / parts};
}

/// Returns the calling thread's part of 0, ..., count - 1. Called by all threads of an OpenMP parallel region.
[[gnu::always_inline]] inline Range my_part_of(std::int64_t count) {
  return part_of(count, omp_get_thread_num(), omp_get_num_threads());
}

/// Divides 0, ..., count - 1 among `threads` threads: calls loop(Range) on each thread with its part. If there are few
/// values, the calling thread does all.
template <typename Loop>
void in_parts(std::int64_t count, int threads, const Loop& loop) {
  if (count < kWorthThreads || threads == 1) {
    loop(Range{0, count});
    return;
  }
#pragma omp parallel num_threads(threads)
  loop(my_part_of(count));
}

}  // namespace convoy::ops::cpu
