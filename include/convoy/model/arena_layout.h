/// Where everything of a stage lies in its arenas: parameters, gradients and optimizer state share this one layout, and
/// buckets, shards and checkpoints are slices of it. Any rank can compute any stage's.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/model/network.h"

namespace convoy {

/// A run of cells [begin, end) of the network.
struct CellRange {
  std::int64_t begin = 0, end = 0;

  std::int64_t size() const { return end - begin; }
  bool operator==(const CellRange&) const = default;
};

struct ArenaEntry {
  ParameterSpec spec;
  std::int64_t offset = 0;  ///< floats from the start of the arena, a multiple of 16
};

/// Neighbouring cells whose gradients travel together.
struct Bucket {
  CellRange cells;
  std::int64_t begin = 0, end = 0;  ///< floats in the arena

  std::int64_t count() const { return end - begin; }
};

struct ArenaLayout {
  CellRange cells;
  std::vector<std::int64_t> cell_offsets;  ///< of each cell of the range, floats
  std::vector<ArenaEntry> entries;         ///< in arena order
  std::vector<Bucket> buckets;             ///< bucket 0 holds the first cells
  std::int64_t count = 0;                  ///< floats, padding included
};

/// Cells are gathered into buckets from the last to the first (the order in which backward completes them) until one
/// holds at least bucket_floats.
ArenaLayout make_arena_layout(const Network& network, const CellRange& cells, std::int64_t bucket_floats);

/// The part of `bucket` that replica `owner` of `num_owners` reduces, updates and keeps optimizer state for. Boundaries
/// are multiples of 16 floats; the last ones may be empty.
struct Slice {
  std::int64_t begin = 0, end = 0;

  std::int64_t count() const { return end - begin; }
};
Slice slice_of(const Bucket& bucket, std::int64_t owner, std::int64_t num_owners);

}  // namespace convoy
