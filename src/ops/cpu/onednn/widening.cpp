/// Widens 16-bit values to float32, in one pass that is bound by memory.
#include "ops/cpu/onednn/widening.h"

#include "ops/cpu/parallel.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

void Widening::widen(const void* from, float* to, std::int64_t count) const {
  const Bf16* values = values_at<Bf16>(from);
  in_parts(count, memory_.threads(), [=](Range range) {
    for_lanes(range.begin, range.end, [=]<typename V>(std::int64_t i, V) { write(to + i, read<V>(values + i)); });
  });
}

}  // namespace convoy::ops::cpu
