/// A copy that travels while steps go on is the checkpoint that ranks would have waited for, to the last bit.
#include "checkpoint/snapshot.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convoy/comm/process_grid.h"
#include "convoy/ops/backend.h"

#include "checkpoint/checkpointing.h"
#include "parallel/fixed_batch.h"
#include "parallel/mpi_main.h"
#include "step/rank_runtime.h"
#include "unit/io/same_bits.h"

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
          .bucket_mib = 2,
          .ema_decay = 0.9};
}

void expect_same(const io::Checkpoint& got, const io::Checkpoint& want) {
  expect_same_bits(got.model, want.model);
  expect_same_bits(got.ema, want.ema);
  ASSERT_EQ(got.optimizer.size(), want.optimizer.size());
  for (const auto& [slot, tensors] : want.optimizer) expect_same_bits(got.optimizer.at(slot), tensors);
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
    for (int step = 0; step < num; ++step) runtime.train_step(batch, 0.01);
    runtime.finish();
  }

  ProcessGrid grid;
  std::unique_ptr<ops::Backend> backend;
  StatusBoard board;
  RankRuntime runtime;
  FixedBatch batch;
};

std::vector<std::pair<std::int64_t, std::int64_t>> stages_and_chunks() {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (const std::int64_t stages : divisors(world().size())) all.emplace_back(stages, 1);
  if (world().size() > 1) all.emplace_back(2, 2);
  return all;
}

}  // namespace

TEST(Snapshot, HoldsTheBitsOfItsStepThoughTheNextStepsChangeThem) {
  for (const auto& [stages, chunks] : stages_and_chunks()) {
    SCOPED_TRACE(fmt::format("{} stages of {} chunks", stages, chunks));
    Training training(stages, spec_of(OptimizerKind::kAdam, chunks));
    Snapshot snapshot(training.runtime);
    training.runtime.set_beside([&] { snapshot.progress(); });
    for (int save = 0; save < 2; ++save) {  // in the same memory
      training.steps(1);
      const io::Checkpoint waited_for = gather_checkpoint(training.runtime);
      snapshot.take();
      training.steps(2);
      snapshot.finish();
      if (world().rank() == 0) expect_same(snapshot.content(), waited_for);
    }
  }
}

TEST(Snapshot, ArrivesByTheStepsAloneAndNobodyWaitsForIt) {
  Training training(world().size(), spec_of(OptimizerKind::kSgd, 1));
  Snapshot snapshot(training.runtime);
  training.runtime.set_beside([&] { snapshot.progress(); });
  training.steps(1);
  snapshot.take();
  const std::int64_t pieces = snapshot_bytes(training.runtime.plan(), 0, /*is_root=*/true) >> 20;
  training.steps(static_cast<int>(2 + pieces / 4));  // in a step at least the few pieces in flight arrive
  EXPECT_EQ(world().sum(snapshot.is_complete() ? 0 : 1), 0);
  snapshot.finish();
}

}  // namespace convoy::test
