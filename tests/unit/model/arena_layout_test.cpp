/// Arenas hold every parameter once, aligned, and buckets and slices tile them.
#include "convoy/model/arena_layout.h"

#include <gtest/gtest.h>

namespace convoy {

namespace {

Network resnet20() {
  return make_network({.name = "resnet20", .input = ImageShape{28, 28, 1}, .micro_batch = 2, .num_classes = 10});
}

}  // namespace

TEST(ArenaLayout, EntriesAreAlignedAndDoNotOverlap) {
  const Network network = resnet20();
  const ArenaLayout layout = make_arena_layout(network, {{2, 7}}, 4096);
  std::int64_t end = 0;
  for (const ArenaEntry& entry : layout.entries) {
    EXPECT_EQ(entry.offset % 16, 0) << entry.spec.name;
    EXPECT_GE(entry.offset, end) << entry.spec.name;
    end = entry.offset + entry.spec.count();
  }
  EXPECT_LE(end, layout.count);
  EXPECT_EQ(layout.entries.front().spec.name, "layer1.1.conv1.weight");
  EXPECT_EQ(layout.entries.back().spec.name, "layer2.2.bn2.running_var");
}

TEST(ArenaLayout, BucketsTileTheArenaAtCells) {
  const Network network = resnet20();
  for (const std::int64_t bucket_floats : {1, 5000, 20000, 10'000'000}) {
    const ArenaLayout layout = make_arena_layout(network, {{0, std::ssize(network)}}, bucket_floats);
    std::int64_t at = 0, cell = 0;
    for (std::size_t b = 0; b < layout.buckets.size(); ++b) {
      const Bucket& bucket = layout.buckets[b];
      EXPECT_EQ(bucket.begin, at);
      EXPECT_EQ(bucket.cells.begin, cell);
      EXPECT_EQ(bucket.begin, layout.cell_offsets[bucket.cells.begin]);
      // Only bucket 0, the last in backward, may be smaller.
      EXPECT_TRUE(b == 0 || bucket.count() >= bucket_floats);
      at = bucket.end, cell = bucket.cells.end;
    }
    EXPECT_EQ(at, layout.count);
    EXPECT_EQ(cell, std::ssize(network));
  }
  EXPECT_EQ(make_arena_layout(network, {{0, 11}}, 1).buckets.size(), 11u);
  EXPECT_EQ(make_arena_layout(network, {{0, 11}}, 10'000'000).buckets.size(), 1u);
}

TEST(ArenaLayout, RunsLieOneAfterTheOtherAndAreCutIntoBucketsAsIfTheyWereAlone) {
  const Network network = resnet20();
  const std::vector<CellRange> runs = {{1, 3}, {5, 6}, {8, 11}};
  for (const std::int64_t bucket_floats : {1, 20000, 10'000'000}) {
    const ArenaLayout layout = make_arena_layout(network, runs, bucket_floats);
    ASSERT_EQ(layout.cells(), runs);
    EXPECT_EQ(layout.num_cells(), 6);
    std::int64_t begin = 0, first_cell = 0, first_entry = 0, first_bucket = 0;
    for (const ArenaRun& run : layout.runs) {
      const ArenaLayout alone = make_arena_layout(network, {run.cells}, bucket_floats);
      EXPECT_EQ(run.begin, begin);
      EXPECT_EQ(run.end - run.begin, alone.count);
      EXPECT_EQ(run.first_cell, first_cell);
      EXPECT_EQ(run.first_entry, first_entry);
      EXPECT_EQ(run.num_entries, std::ssize(alone.entries));
      EXPECT_EQ(run.first_bucket, first_bucket);
      ASSERT_EQ(run.num_buckets, std::ssize(alone.buckets));
      for (std::int64_t i = 0; i < run.cells.size(); ++i)
        EXPECT_EQ(layout.cell_offsets[first_cell + i], begin + alone.cell_offsets[i]);
      for (std::int64_t e = 0; e < run.num_entries; ++e) {
        EXPECT_EQ(layout.entries[first_entry + e].spec.name, alone.entries[e].spec.name);
        EXPECT_EQ(layout.entries[first_entry + e].offset, begin + alone.entries[e].offset);
      }
      for (std::int64_t b = 0; b < run.num_buckets; ++b) {
        const Bucket& bucket = layout.buckets[first_bucket + b];
        EXPECT_EQ(bucket.cells, alone.buckets[b].cells);
        EXPECT_EQ(bucket.begin, begin + alone.buckets[b].begin);
        EXPECT_EQ(bucket.end, begin + alone.buckets[b].end);
      }
      begin = run.end, first_cell += run.cells.size();
      first_entry += run.num_entries, first_bucket += run.num_buckets;
    }
    EXPECT_EQ(layout.count, begin);
    EXPECT_EQ(std::ssize(layout.buckets), first_bucket);
  }
}

TEST(ArenaLayout, NamesOfCellsAreThoseOfEachRunsEnds) {
  const Network network = resnet20();
  EXPECT_EQ(cell_names(network, {{0, 11}}), "stem .. head");
  EXPECT_EQ(cell_names(network, {{0, 1}, {3, 5}, {10, 11}}), "stem, layer1.2 .. layer2.0, head");
}

TEST(ArenaLayout, SlicesTileABucket) {
  for (const std::int64_t count : {16, 32, 4096, 4112, 160}) {
    const Bucket bucket{.cells = {0, 1}, .begin = 64, .end = 64 + count};
    for (std::int64_t slices = 1; slices <= 9; ++slices) {
      std::int64_t at = bucket.begin;
      for (std::int64_t number = 0; number < slices; ++number) {
        const Slice slice = slice_at(bucket, number, slices);
        EXPECT_EQ(slice.begin, at);
        EXPECT_EQ(slice.begin % 16, 0);
        at = slice.end;
      }
      EXPECT_EQ(at, bucket.end);
    }
  }
}

// The low bits of the owner, reversed, give the run of slices; the others give the slice in it.
TEST(ArenaLayout, OwnersThatDifferInLowBitsHaveSlicesFarApart) {
  const auto numbers = [](std::int64_t owners) {
    std::vector<std::int64_t> list;
    for (std::int64_t owner = 0; owner < owners; ++owner) list.push_back(slice_number(owner, owners));
    return list;
  };
  EXPECT_EQ(numbers(1), (std::vector<std::int64_t>{0}));
  EXPECT_EQ(numbers(5), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(numbers(8), (std::vector<std::int64_t>{0, 4, 2, 6, 1, 5, 3, 7}));
  EXPECT_EQ(numbers(6), (std::vector<std::int64_t>{0, 3, 1, 4, 2, 5}));
}

}  // namespace convoy
