/// 16-bit values as float32, one pass bound by memory.
#include "ops/cpu/widening.h"

#include "ops/cpu/parallel.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kWorthThreads = 1 << 15;  // below, waking threads costs more than the loop

void widen_values(const Bf16* from, float* to, Range range) {
  for_lanes(range.begin, range.end, [=]<typename V>(std::int64_t i, V) { write(to + i, read<V>(from + i)); });
}

}  // namespace

void Widening::widen(const void* from, float* to, std::int64_t count) const {
  const Bf16* values = values_at<Bf16>(from);
  if (count < kWorthThreads || memory_.threads() == 1) {
    widen_values(values, to, {0, count});
    return;
  }
#pragma omp parallel num_threads(memory_.threads())
  widen_values(values, to, my_part_of(count));
}

}  // namespace convoy::ops::cpu
