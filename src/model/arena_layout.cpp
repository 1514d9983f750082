/// Offsets, buckets and slices of a stage's arenas.
#include "convoy/model/arena_layout.h"

#include <algorithm>
#include <bit>

#include <fmt/core.h>

namespace convoy {

namespace {

constexpr std::int64_t kSliceAlignmentFloats = 16;  // a cache line: two owners never write the same line

void append_cells(const Network& network, const CellRange& cells, ArenaLayout& layout) {
  for (std::int64_t i = cells.begin; i < cells.end; ++i) {
    const CellMemory& memory = network[i]->memory();
    layout.cell_offsets.push_back(layout.count);
    for (const auto& entry : memory.parameters())
      layout.entries.push_back({.spec = entry.spec, .offset = layout.count + entry.ref.offset});
    layout.count += memory.arena_count();
  }
}

void append_buckets(const ArenaRun& run, std::int64_t bucket_floats, ArenaLayout& layout) {
  const CellRange& cells = run.cells;
  Bucket bucket{.cells = {cells.end, cells.end}, .begin = run.end, .end = run.end};
  for (std::int64_t i = cells.end - 1; i >= cells.begin; --i) {
    bucket.cells.begin = i;
    bucket.begin = layout.cell_offsets[run.first_cell + i - cells.begin];
    if (bucket.count() >= bucket_floats || i == cells.begin) {
      layout.buckets.push_back(bucket);
      bucket = {.cells = {i, i}, .begin = bucket.begin, .end = bucket.begin};
    }
  }
  std::reverse(layout.buckets.begin() + run.first_bucket, layout.buckets.end());
}

}  // namespace

std::vector<CellRange> ArenaLayout::cells() const {
  std::vector<CellRange> cells;
  for (const ArenaRun& run : runs) cells.push_back(run.cells);
  return cells;
}

ArenaLayout make_arena_layout(const Network& network, const std::vector<CellRange>& runs, std::int64_t bucket_floats) {
  ArenaLayout layout;
  for (const CellRange& cells : runs) {
    ArenaRun run{.cells = cells,
                 .begin = layout.count,
                 .first_cell = layout.num_cells(),
                 .first_entry = std::ssize(layout.entries),
                 .first_bucket = std::ssize(layout.buckets)};
    append_cells(network, cells, layout);
    run.end = layout.count;
    run.num_entries = std::ssize(layout.entries) - run.first_entry;
    append_buckets(run, bucket_floats, layout);
    run.num_buckets = std::ssize(layout.buckets) - run.first_bucket;
    layout.runs.push_back(run);
  }
  return layout;
}

std::string cell_names(const Network& network, const std::vector<CellRange>& runs) {
  std::string names;
  for (const CellRange& cells : runs) {
    const std::string& first = network[cells.begin]->name();
    const std::string& last = network[cells.end - 1]->name();
    names += fmt::format("{}{}", names.empty() ? "" : ", ", first);
    if (cells.size() > 1) names += fmt::format(" .. {}", last);
  }
  return names;
}

Slice slice_at(const Bucket& bucket, std::int64_t number, std::int64_t num_slices) {
  const std::int64_t size = round_up((bucket.count() + num_slices - 1) / num_slices, kSliceAlignmentFloats);
  const std::int64_t begin = std::min(bucket.begin + number * size, bucket.end);
  return {.begin = begin, .end = std::min(begin + size, bucket.end)};
}

std::int64_t slice_number(std::int64_t owner, std::int64_t num_owners) {
  const int halvings = std::countr_zero(static_cast<std::uint64_t>(num_owners));
  std::int64_t run = 0;
  for (int bit = 0; bit < halvings; ++bit) run = 2 * run + (owner >> bit & 1);
  return run * (num_owners >> halvings) + (owner >> halvings);
}

Slice slice_of(const Bucket& bucket, std::int64_t owner, std::int64_t num_owners) {
  return slice_at(bucket, slice_number(owner, num_owners), num_owners);
}

// The size of each slice is rounded up by less than its alignment.
std::int64_t slack_of_slices(std::int64_t num_owners) {
  return num_owners == 1 ? 0 : num_owners * kSliceAlignmentFloats;
}

Shard shard_of(const ArenaLayout& layout, std::int64_t owner, std::int64_t num_owners) {
  Shard shard;
  for (const Bucket& bucket : layout.buckets) {
    shard.slices.push_back(slice_of(bucket, owner, num_owners));
    shard.offsets.push_back(shard.count);
    shard.count += shard.slices.back().count();
  }
  return shard;
}

}  // namespace convoy
