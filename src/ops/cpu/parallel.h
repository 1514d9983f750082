/// Divides loops among threads: into contiguous parts, the same for the same count and number of threads.
#pragma once

#include <cstdint>

#include <omp.h>

namespace convoy::ops::cpu {

inline constexpr std::int64_t kWorthThreads = 1 << 15;  // values; below, waking threads costs more than the loop

/// Indices begin, ..., end - 1.
struct Range {
  std::int64_t begin = 0, end = 0;
};

/// Part `index` of `parts` of 0, ..., count - 1. The sizes of parts differ by at most one.
[[gnu::always_inline]] inline Range part_of(std::int64_t count, std::int64_t index, std::int64_t parts) {
  return {count * index / parts, count * (index + 1) / parts};
}

/// The calling thread's part of 0, ..., count - 1, inside a parallel region.
[[gnu::always_inline]] inline Range my_part_of(std::int64_t count) {
  return part_of(count, omp_get_thread_num(), omp_get_num_threads());
}

/// Calls loop(Range) with one part of all indices on each thread.
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
