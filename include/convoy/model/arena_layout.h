/// The layout of a stage's arenas: parameters, gradients and optimizer state share it, and buckets, shards and
/// checkpoints are slices of it. Any rank can compute the layout of any stage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/model/network.h"

namespace convoy {

/// The cells [begin, end) of the network.
struct CellRange {
  std::int64_t begin = 0, end = 0;

  std::int64_t size() const { return end - begin; }
  bool operator==(const CellRange&) const = default;
};

struct ArenaEntry {
  ParameterSpec spec;
  std::int64_t offset = 0;  ///< in floats from the start of the arena, a multiple of 16
};

/// Neighbouring cells whose gradients are sent together.
struct Bucket {
  CellRange cells;
  std::int64_t begin = 0, end = 0;  ///< floats in the arena

  std::int64_t count() const { return end - begin; }
};

/// Neighbouring cells in an arena, and the first of their elements in the lists of ArenaLayout.
struct ArenaRun {
  CellRange cells;
  std::int64_t begin = 0, end = 0;  ///< floats in the arena
  std::int64_t first_cell = 0;      ///< index in ArenaLayout::cell_offsets
  std::int64_t first_entry = 0, num_entries = 0;
  std::int64_t first_bucket = 0, num_buckets = 0;

  /// The whole run as one bucket.
  Bucket whole() const { return {.cells = cells, .begin = begin, .end = end}; }
};

/// The layout of a stage's arena. The stage's cells are one run or, with several chunks, one run per chunk, one after
/// the other.
struct ArenaLayout {
  std::vector<ArenaRun> runs;
  std::vector<std::int64_t> cell_offsets;  ///< of each cell in floats, run after run
  std::vector<ArenaEntry> entries;         ///< parameters in the order of the arena
  std::vector<Bucket> buckets;             ///< run after run; the first bucket of a run holds its first cells
  std::int64_t count = 0;                  ///< floats, padding included

  std::vector<CellRange> cells() const;  ///< the cells of each run
  std::int64_t num_cells() const { return std::ssize(cell_offsets); }
  const Bucket& bucket_of(std::int64_t run, std::int64_t bucket) const {
    return buckets[runs[run].first_bucket + bucket];
  }
};

/// Lays out an arena for these runs of cells. A run's cells are gathered into buckets from the last to the first (the
/// order in which backward completes them) until a bucket holds at least bucket_floats. No bucket spans two runs.
ArenaLayout make_arena_layout(const Network& network, const std::vector<CellRange>& runs, std::int64_t bucket_floats);

/// The names of the cells in these runs: "stem", "layer1.0 .. layer2.1", "stem .. layer1.1, layer2.2 .. layer3.0".
std::string cell_names(const Network& network, const std::vector<CellRange>& runs);

/// The floats [begin, end) of an arena.
struct Slice {
  std::int64_t begin = 0, end = 0;

  std::int64_t count() const { return end - begin; }
};
/// Slice `number` of the `num_slices` slices into which `bucket` is cut. Slices begin at multiples of 16 floats from
/// the bucket's begin; the last ones may be empty.
Slice slice_at(const Bucket& bucket, std::int64_t number, std::int64_t num_slices);
/// The number of the slice, of `num_owners`, that replica `owner` reduces, updates and keeps optimizer state for.
/// Replicas whose numbers differ in low bits own slices that are far apart. With num_owners = 2^k m, m odd, the owner's
/// low k bits, in reversed order, select one of 2^k equal runs of slices, and the bits above select one of the m slices
/// there. A bucket is then summed by halving it (update/exchange_rounds.h).
std::int64_t slice_number(std::int64_t owner, std::int64_t num_owners);
/// The slice of `bucket` that replica `owner` owns: slice_at(slice_number).
Slice slice_of(const Bucket& bucket, std::int64_t owner, std::int64_t num_owners);

/// The number of floats by which memory for a sum of gradients is longer than the arena. Its reduction takes slices of
/// one size, so the last slices of a bucket may end beyond it; what is summed there is not used.
std::int64_t slack_of_slices(std::int64_t num_owners);

/// The memory of a replica's slices of all buckets, one after the other.
struct Shard {
  std::vector<Slice> slices;          ///< by bucket
  std::vector<std::int64_t> offsets;  ///< of each slice in the shard, floats
  std::int64_t count = 0;             ///< floats
};
Shard shard_of(const ArenaLayout& layout, std::int64_t owner, std::int64_t num_owners);

}  // namespace convoy
