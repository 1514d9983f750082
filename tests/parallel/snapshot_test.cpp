/// A copy that travels while steps go on is the checkpoint that ranks would have waited for, to the last bit.
#include "checkpoint/snapshot.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/comm/process_grid.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"
#include "convoy/ops/backend.h"

#include "checkpoint/checkpointing.h"
#include "parallel/fixed_batch.h"
#include "parallel/mpi_main.h"
#include "parallel/shared_directory.h"
#include "step/rank_runtime.h"
#include "unit/io/same_bits.h"
#include "unit/messages.h"

namespace convoy::test {

namespace {

constexpr std::uint64_t kSeed = 5;

// Several pieces of a slice, and slices of several buckets.
RuntimeSpec spec_of(OptimizerKind optimizer, std::int64_t chunks) {
  return {.network = {.name = "wrn16-4", .input = ImageShape{8, 8, 3}, .micro_batch = 2, .num_classes = 10},
          .batch = {.global = 8, .micro = 2},
          .schedule = chunks > 1 ? ScheduleKind::kInterleaved : ScheduleKind::k1F1B,
          .chunks = chunks,
          .optimizer = {.kind = optimizer},
          .train = {.ema_decay = 0.9},
          .run = {.bucket_mib = 2}};
}

void expect_same(const io::Checkpoint& got, const io::Checkpoint& want) {
  expect_same_bits(got.model, want.model);
  expect_same_bits(got.ema, want.ema);
  ASSERT_EQ(got.optimizer.size(), want.optimizer.size());
  for (const auto& [state, tensors] : want.optimizer) expect_same_bits(got.optimizer.at(state), tensors);
  EXPECT_EQ(got.counters, want.counters);
}

/// A runtime that trains, and a snapshot of it that its steps move on.
struct Training {
  Training(std::int64_t stages, const RuntimeSpec& spec)
      : grid(world(), stages),
        backend(ops::make_backend({.device = DeviceKind::kCpu, .threads = 1})),
        runtime(spec, grid, *backend, board),
        batch(runtime, kSeed) {
    initialise_parameters({.seed = kSeed}, runtime);
  }
  void steps(int num) {
    for (int step = 0; step < num; ++step) training.run(batch, 0.01);
    runtime.finish();
  }

  ProcessGrid grid;
  std::unique_ptr<ops::Backend> backend;
  StatusBoard board;
  RankRuntime runtime;
  TrainingStep training{runtime};
  FixedBatch batch;
};

std::vector<std::pair<std::int64_t, std::int64_t>> stages_and_chunks() {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (const std::int64_t stages : divisors(world().size())) all.emplace_back(stages, 1);
  if (world().size() > 1) all.emplace_back(2, 2);
  return all;
}

/// Adds the metadata that decoding needs in addition to tensors.
io::Checkpoint whole(io::Checkpoint checkpoint) {
  checkpoint.metadata = {
      .name = "wrn16-4",
      .input = io::ImageInput{.shape = {8, 8, 3}, .channel_mean = {0, 0, 0}, .channel_stddev = {1, 1, 1}}};
  return checkpoint;
}

io::Checkpoint with_values(const Snapshot& snapshot, const SharedDirectory& directory) {
  io::Checkpoint checkpoint = snapshot.content();
  io::load_values(checkpoint, directory / "any.h5");
  return checkpoint;
}

/// The last value of the arena, which is of the last replica.
std::int64_t last_owned(const RankRuntime& runtime) {
  const ArenaEntry& entry = runtime.stage().plan().layout.entries.back();
  EXPECT_EQ(entry.spec.name, "fc.bias");
  return entry.offset + entry.spec.count() - 1;
}

}  // namespace

TEST(Snapshot, HoldsTheBitsOfItsStepThoughTheNextStepsChangeThem) {
  for (const CheckpointFiles files : {CheckpointFiles::kOne, CheckpointFiles::kSharded}) {
    for (const auto& [stages, chunks] : stages_and_chunks()) {
      SCOPED_TRACE(fmt::format("{}, {} stages of {} chunks", name_of(files), stages, chunks));
      const SharedDirectory directory;
      Training training(stages, spec_of(OptimizerKind::kAdam, chunks));
      const std::unique_ptr<Snapshot> snapshot = make_snapshot(files, directory.path(), training.training);
      training.runtime.set_beside([&] { snapshot->progress(); });
      for (int save = 0; save < 2; ++save) {  // in the same memory
        training.steps(1);
        const io::Checkpoint waited_for = gather_checkpoint(training.training);
        snapshot->take(save);
        training.steps(2);
        snapshot->finish();
        if (world().rank() == 0) expect_same(with_values(*snapshot, directory), waited_for);
      }
    }
  }
}

// Each rank reads its stage's values, and of the optimizer's and the average's its own, from files that ranks of
// another grid have written.
TEST(Snapshot, OfPartsIsRestoredOnEveryGrid) {
  for (const auto& [stages, chunks] : stages_and_chunks()) {
    const SharedDirectory directory;
    const std::string path = directory / "step-00000003.h5";
    Training training(stages, spec_of(OptimizerKind::kAdam, chunks));
    training.steps(3);
    const io::Checkpoint want = gather_checkpoint(training.training);
    const std::unique_ptr<Snapshot> snapshot =
        make_snapshot(CheckpointFiles::kSharded, directory.path(), training.training);
    snapshot->take(3);
    snapshot->finish();
    if (world().rank() == 0) io::write_file_atomically(path, io::encode_checkpoint(whole(snapshot->content())));
    world().barrier();
    for (const auto& [other_stages, other_chunks] : stages_and_chunks()) {
      SCOPED_TRACE(fmt::format("{} stages of {} chunks, then {} of {}", stages, chunks, other_stages, other_chunks));
      Training other(other_stages, spec_of(OptimizerKind::kAdam, other_chunks));
      restore_checkpoint(io::decode_checkpoint(io::read_checkpoint_file(path), path), path, other.training);
      const io::Checkpoint got = gather_checkpoint(other.training);
      if (world().rank() == 0) expect_same(got, want);
    }
  }
}

TEST(Snapshot, SaysWhichRankCouldNotWriteAndWhichTensorIsNotFinite) {
  const SharedDirectory directory;
  Training training(1, spec_of(OptimizerKind::kSgd, 1));
  const std::unique_ptr<Snapshot> snapshot =
      make_snapshot(CheckpointFiles::kSharded, directory.path(), training.training);
  const int last = world().size() - 1;
  const std::string part = io::part_path(directory.path(), io::parts_folder(5, 1), last);
  if (world().rank() == 0) std::filesystem::create_directories(part + "/folder");  // a file of this name cannot be made
  world().barrier();
  snapshot->take(5);
  snapshot->finish();
  if (world().rank() == 0) {
    const std::string message = message_of<Error>([&] { snapshot->content(); });
    EXPECT_CONTAINS(message, fmt::format("rank {} could not write its part of the checkpoint: ", last));
    EXPECT_CONTAINS(message, part);
    EXPECT_EQ(snapshot->not_finite(), "");
  }
  snapshot->take(6);
  snapshot->finish();
  if (world().rank() == 0) {
    std::filesystem::remove(io::part_path(directory.path(), io::parts_folder(6, 2), last));  // as on another disk
    EXPECT_CONTAINS(
        message_of<Error>([&] { snapshot->content(); }),
        fmt::format("or not with the size that rank {} has written. With checkpoint.files = sharded", last));
  }
  if (world().rank() == last) training.runtime.stage().parameters().masters[last_owned(training.runtime)] = INFINITY;
  snapshot->take(7);
  snapshot->finish();
  if (world().rank() == 0) {
    EXPECT_EQ(snapshot->not_finite(), "fc.bias");
  }
}

TEST(Snapshot, ArrivesByTheStepsAloneAndNobodyWaitsForIt) {
  Training training(world().size(), spec_of(OptimizerKind::kSgd, 1));
  const std::unique_ptr<Snapshot> snapshot = make_snapshot(CheckpointFiles::kOne, "", training.training);
  training.runtime.set_beside([&] { snapshot->progress(); });
  training.steps(1);
  snapshot->take(1);
  const std::int64_t pieces = snapshot_bytes(training.runtime.plan(), 0, /*is_root=*/true) >> 20;
  training.steps(static_cast<int>(2 + pieces / 4));  // in a step at least the few pieces in flight arrive
  EXPECT_EQ(world().sum(snapshot->is_complete() ? 0 : 1), 0);
  snapshot->finish();
}

}  // namespace convoy::test
