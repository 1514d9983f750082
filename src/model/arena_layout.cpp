/// Offsets, buckets and slices of a stage's arenas.
#include "convoy/model/arena_layout.h"

#include <algorithm>

namespace convoy {

namespace {
constexpr std::int64_t kSliceAlignmentFloats = 16;  // a cache line: no two owners write one line
}

ArenaLayout make_arena_layout(const Network& network, const CellRange& cells, std::int64_t bucket_floats) {
  ArenaLayout layout{.cells = cells};
  for (std::int64_t i = cells.begin; i < cells.end; ++i) {
    const CellMemory& memory = network[i]->memory();
    layout.cell_offsets.push_back(layout.count);
    for (const auto& entry : memory.parameters())
      layout.entries.push_back({.spec = entry.spec, .offset = layout.count + entry.place.offset});
    layout.count += memory.arena_count();
  }
  Bucket bucket{.cells = {cells.end, cells.end}, .begin = layout.count, .end = layout.count};
  for (std::int64_t i = cells.end - 1; i >= cells.begin; --i) {
    bucket.cells.begin = i;
    bucket.begin = layout.cell_offsets[i - cells.begin];
    if (bucket.count() >= bucket_floats || i == cells.begin) {
      layout.buckets.push_back(bucket);
      bucket = {.cells = {i, i}, .begin = bucket.begin, .end = bucket.begin};
    }
  }
  std::reverse(layout.buckets.begin(), layout.buckets.end());
  return layout;
}

Slice slice_of(const Bucket& bucket, std::int64_t owner, std::int64_t num_owners) {
  const std::int64_t size = round_up((bucket.count() + num_owners - 1) / num_owners, kSliceAlignmentFloats);
  const std::int64_t begin = std::min(bucket.begin + owner * size, bucket.end);
  return {.begin = begin, .end = std::min(begin + size, bucket.end)};
}

}  // namespace convoy
