/// Lays out scratch memory: the largest first, each at the first offset that is free.
#include "model/scratch_layout.h"

#include <algorithm>
#include <numeric>

#include "convoy/base/shape.h"

namespace convoy {

namespace {

constexpr std::int64_t kAlignmentBytes = 64;

bool overlap_in_time(const Lifetime& a, const Lifetime& b) {
  return a.first_call <= b.last_call && b.first_call <= a.last_call;
}

}  // namespace

ScratchLayout lay_out_scratch(const std::vector<Lifetime>& lifetimes) {
  std::vector<std::size_t> by_size(lifetimes.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](std::size_t a, std::size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  ScratchLayout layout{.offsets = std::vector<std::int64_t>(lifetimes.size(), 0)};
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t own : by_size) {
    std::int64_t offset = 0;
    for (const std::size_t other : placed) {
      if (!overlap_in_time(lifetimes[own], lifetimes[other])) continue;
      if (offset + lifetimes[own].bytes <= layout.offsets[other]) break;
      offset = std::max(offset, layout.offsets[other] + round_up(lifetimes[other].bytes, kAlignmentBytes));
    }
    layout.offsets[own] = offset;
    layout.bytes = std::max(layout.bytes, offset + round_up(lifetimes[own].bytes, kAlignmentBytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [&](std::int64_t o, std::size_t k) { return o < layout.offsets[k]; }),
                  own);
  }
  return layout;
}

}  // namespace convoy
