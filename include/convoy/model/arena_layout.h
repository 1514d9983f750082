/// Where everything of a stage lies in its arenas: parameters, gradients and optimizer state share this one layout, and
/// buckets, shards and checkpoints are slices of it. Any rank can compute any stage's.
#pragma once

#include <cstdint>
#include <string>
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

/// Neighbouring cells in an arena, and where what belongs to them begins in the layout's lists.
struct ArenaRun {
  CellRange cells;
  std::int64_t begin = 0, end = 0;  ///< floats in the arena
  std::int64_t first_cell = 0;      ///< in cell_offsets
  std::int64_t first_entry = 0, num_entries = 0;
  std::int64_t first_bucket = 0, num_buckets = 0;

  /// All of it, as one bucket.
  Bucket whole() const { return {.cells = cells, .begin = begin, .end = end}; }
};

/// A stage's cells are one run or, with several chunks, a run each, one after the other.
struct ArenaLayout {
  std::vector<ArenaRun> runs;
  std::vector<std::int64_t> cell_offsets;  ///< of each cell, run after run; floats
  std::vector<ArenaEntry> entries;         ///< in arena order
  std::vector<Bucket> buckets;             ///< run after run; a run's first one holds its first cells
  std::int64_t count = 0;                  ///< floats, padding included

  std::vector<CellRange> cells() const;  ///< of each run
  std::int64_t num_cells() const { return std::ssize(cell_offsets); }
  const Bucket& bucket_of(std::int64_t run, std::int64_t bucket) const {
    return buckets[runs[run].first_bucket + bucket];
  }
};

/// A run's cells are gathered into buckets from the last to the first (the order in which backward completes them)
/// until one holds at least bucket_floats. No bucket spans two runs.
ArenaLayout make_arena_layout(const Network& network, const std::vector<CellRange>& runs, std::int64_t bucket_floats);

/// "stem", "layer1.0 .. layer2.1", "stem .. layer1.1, layer2.2 .. layer3.0".
std::string cell_names(const Network& network, const std::vector<CellRange>& runs);

/// A run of floats in an arena.
struct Slice {
  std::int64_t begin = 0, end = 0;

  std::int64_t count() const { return end - begin; }
};
/// Slice `number` of the `num_slices` into which `bucket` is cut. Boundaries are multiples of 16 floats; the last ones
/// may be empty.
Slice slice_at(const Bucket& bucket, std::int64_t number, std::int64_t num_slices);
/// Which of `num_owners` slices replica `owner` reduces, updates and keeps optimizer state for. Replicas whose numbers
/// differ in low bits own slices that are far apart: with num_owners = 2^k m, m odd, the owner's low k bits, in
/// reversed order, say in which of 2^k equal runs of slices its own is, and the bits above which of the m slices there.
/// A bucket is then summed by halving it (update/exchange_rounds.h).
std::int64_t slice_number(std::int64_t owner, std::int64_t num_owners);
/// slice_at(slice_number).
Slice slice_of(const Bucket& bucket, std::int64_t owner, std::int64_t num_owners);

/// Floats by which memory for a sum of gradients is longer than the arena, where their reduction takes slices of one
/// size: the last slices of a bucket end beyond it. What is summed there nobody uses.
std::int64_t slack_of_slices(std::int64_t num_owners);

/// What a replica keeps one after the other: its slices of all buckets.
struct Shard {
  std::vector<Slice> slices;          ///< by bucket
  std::vector<std::int64_t> offsets;  ///< of each slice in the shard, floats
  std::int64_t count = 0;             ///< floats
};
Shard shard_of(const ArenaLayout& layout, std::int64_t owner, std::int64_t num_owners);

}  // namespace convoy
