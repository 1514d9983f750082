/// The layout of a stage's arenas. An arena is one array of floats with a value for each parameter of the stage's
/// cells. Parameters, gradients and each tensor of optimizer state have an arena of the same layout; buckets, shards
/// and checkpoints are slices of it. Any rank can compute the layout of any stage.
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
  std::int64_t offset = 0;  ///< offset of the parameter from the arena's start in floats, a multiple of 16
};

/// Neighbouring cells whose gradients the replicas exchange together, and the gradients' range in the arena.
struct Bucket {
  CellRange cells;
  std::int64_t begin = 0, end = 0;  ///< offsets in the arena in floats

  std::int64_t count() const { return end - begin; }
};

/// A run of neighbouring cells in an arena, and where its elements begin in the lists of ArenaLayout.
struct ArenaRun {
  CellRange cells;
  std::int64_t begin = 0, end = 0;  ///< offsets in the arena in floats
  std::int64_t first_cell = 0;      ///< index of the run's first cell in ArenaLayout::cell_offsets
  std::int64_t first_entry = 0, num_entries = 0;
  std::int64_t first_bucket = 0, num_buckets = 0;

  /// The whole run as one bucket.
  Bucket whole() const { return {.cells = cells, .begin = begin, .end = end}; }
};

/// The layout of a stage's arena. The stage's cells are one run of neighbouring cells or, with the interleaved
/// schedule, one run per chunk, one run after the other.
struct ArenaLayout {
  std::vector<ArenaRun> runs;
  std::vector<std::int64_t> cell_offsets;  ///< offset of each cell's parameters in floats, run after run
  std::vector<ArenaEntry> entries;         ///< parameters in the order of the arena
  std::vector<Bucket> buckets;             ///< buckets, run after run; the first bucket of a run holds its first cells
  std::int64_t count = 0;                  ///< number of floats of the arena, padding included

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

/// The range [begin, end) of an arena, in floats.
struct Slice {
  std::int64_t begin = 0, end = 0;

  std::int64_t count() const { return end - begin; }
};
/// Returns slice `number` of the `num_slices` slices into which `bucket` is cut. Slices begin at multiples of 16 floats
/// from the bucket's begin; the last slices may be empty.
Slice slice_at(const Bucket& bucket, std::int64_t number, std::int64_t num_slices);
/// Returns the number of the slice that replica `owner` owns in each bucket, which is cut into num_owners slices. The
/// owner sums the slice's gradients, updates its weights and stores its optimizer state. Replicas whose numbers differ
/// in low bits own slices that are far apart: with num_owners = 2^k m and m odd, the low k bits of `owner`, in reversed
/// order, select one of 2^k equal runs of slices, and the bits above select one of the run's m slices. So the gradients
/// of a bucket can be summed by recursive halving (update/exchange_phases.h).
std::int64_t slice_number(std::int64_t owner, std::int64_t num_owners);
/// Returns the slice of `bucket` that replica `owner` owns: slice_at() of slice_number(owner, num_owners).
Slice slice_of(const Bucket& bucket, std::int64_t owner, std::int64_t num_owners);

/// Returns the number of floats by which the memory of a sum of gradients is longer than the arena. The reduction works
/// on slices of equal size, so the last slices of a bucket may end after the bucket; their excess values are not used.
std::int64_t slack_of_slices(std::int64_t num_owners);

/// The memory for the slices that one replica owns in all buckets, one slice after the other; optimizer state is stored
/// in this form.
struct Shard {
  std::vector<Slice> slices;          ///< the owned slice of each bucket
  std::vector<std::int64_t> offsets;  ///< offset of each slice in the shard in floats
  std::int64_t count = 0;             ///< length of the shard in floats
};
Shard shard_of(const ArenaLayout& layout, std::int64_t owner, std::int64_t num_owners);

}  // namespace convoy
