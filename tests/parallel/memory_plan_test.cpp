/// What a stage is said to take before it starts is what it takes.
#include <algorithm>

#include <gtest/gtest.h>

#include "convoy/model/network_file.h"
#include "convoy/ops/backend.h"

#include "parallel/fixed_batch.h"
#include "parallel/mpi_main.h"
#include "step/evaluation_step.h"
#include "step/training_step.h"

namespace convoy::test {

namespace {

/// The most bytes that padding adds to two forms of each weight: oneDNN may round the channels of either side up to
/// three vectors (24 floats: 3.7 with AVX2 makes 72 of 64 and 264 of 256; with AVX-512, older versions make 528 of
/// 512).
double padding_of_packed_weights(const ArenaLayout& layout) {
  constexpr std::int64_t kBlock = 24;
  double bytes = 0;
  for (const ArenaEntry& entry : layout.entries) {
    if (entry.spec.packed_count == 0) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int64_t channels = entry.spec.dims[side];
      const std::int64_t added = (channels + kBlock - 1) / kBlock * kBlock - channels;
      const std::int64_t others = entry.spec.count() / channels;
      bytes += static_cast<double>(others * added * kFloatBytes);
    }
  }
  return bytes;
}

void expect_what_is_planned(RankRuntime& runtime, const ops::Backend& backend) {
  runtime.take_new_parameters();  // convolutions pack them then
  const std::int64_t stage = runtime.grid().stage();
  const auto planned = static_cast<double>(runtime.plan().memory_of(stage).total());
  const auto scratch = static_cast<double>(backend.scratch_bytes());
  const SharedWeights* const weights = runtime.shared_weights();
  const auto allocated =
      static_cast<double>(runtime.device().allocated_bytes() + (weights == nullptr ? 0 : weights->shared_bytes()));
  // Planned too high: weights that are packed in one form only. Too low: forms that oneDNN pads.
  const double padding = padding_of_packed_weights(runtime.stage().plan().layout);
  EXPECT_LE(allocated, planned + scratch + padding) << runtime.grid().num_stages() << " stages, stage " << stage;
  EXPECT_GE(allocated, 0.8 * (planned + scratch)) << runtime.grid().num_stages() << " stages, stage " << stage;
}

}  // namespace

TEST(MemoryPlan, IsWhatTheDeviceGives) {
  for (const ScheduleKind schedule :
       {ScheduleKind::kGpipe, ScheduleKind::k1F1B, ScheduleKind::kInterleaved, ScheduleKind::kZeroBubble}) {
    struct Case {
      std::int64_t stages;
      RecomputeKind recompute = RecomputeKind::kNone;
      ReductionKind reduction = ReductionKind::kInvariant;
    };
    for (const auto& [stages, recompute, reduction] : {Case{1},
                                                       {1, RecomputeKind::kCell},
                                                       {1, RecomputeKind::kNone, ReductionKind::kFast},
                                                       {world().size()},
                                                       {world().size(), RecomputeKind::kCell}}) {
      const ProcessGrid grid(world(), stages);
      const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
      StatusBoard board;
      RankRuntime runtime(
          {.network = {.name = "resnet18", .input = ImageShape{64, 64, 3}, .micro_batch = 8, .num_classes = 10},
           .batch = {.global = 64, .micro = 8},
           .schedule = schedule,
           .chunks = schedule == ScheduleKind::kInterleaved ? 2 : 1,
           .memory = {.recompute = recompute},
           .run = {.reduction = reduction}},
          grid, *backend, board);
      const TrainingStep training(runtime);
      const EvaluationStep evaluation(runtime);
      expect_what_is_planned(runtime, *backend);
    }
  }
}

TEST(MemoryPlan, AnEvaluationsIsWhatTheDeviceGivesAndSmallBesideATrainings) {
  RuntimeSpec spec{.network = {.name = "resnet18", .input = ImageShape{64, 64, 3}, .micro_batch = 8, .num_classes = 10},
                   .batch = {.global = 64, .micro = 8}};
  for (const std::int64_t stages : {std::int64_t{1}, std::int64_t{world().size()}}) {
    const ProcessGrid grid(world(), stages);
    const auto planned_of = [&](bool trains) {
      spec.network.trains = trains;
      const StepPlan plan(spec, {.stages = grid.num_stages(), .replicas = grid.num_replicas()});
      std::int64_t largest = 0;
      for (std::int64_t s = 0; s < stages; ++s) largest = std::max(largest, plan.memory_of(s).total());
      return static_cast<double>(largest);
    };
    EXPECT_LT(planned_of(false), 0.4 * planned_of(true)) << stages << " stages";
    const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
    StatusBoard board;
    spec.network.trains = false;
    RankRuntime runtime(spec, grid, *backend, board);
    const EvaluationStep evaluation(runtime);
    expect_what_is_planned(runtime, *backend);
  }
}

// Attention's products of all words with all words would be N * H * T^2 floats in each layer.
TEST(MemoryPlan, AnEncodersGrowsWithTheLengthOfTextsAndNotWithItsSquare) {
  constexpr std::int64_t kTexts = 2, kHeads = 4, kLayers = 2;
  struct Bytes {
    double planned, allocated;
  };
  const ProcessGrid grid(world(), 1);
  const auto bytes_at = [&](std::int64_t length) {
    const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
    StatusBoard board;
    RankRuntime runtime(
        {.network = {.name = "transformer",
                     .input = TextShape{.length = length, .vocabulary = 50},
                     .settings = network_settings({.layers = kLayers, .heads = kHeads, .width = 64, .feedforward = 64}),
                     .micro_batch = kTexts,
                     .num_classes = 2},
         .batch = {.global = 8 * kTexts, .micro = kTexts}},
        grid, *backend, board);
    TrainingStep training(runtime);
    const EvaluationStep evaluation(runtime);
    FixedBatch batch(runtime, /*seed=*/1);
    training.run(batch, 0.01);
    runtime.finish();
    return Bytes{static_cast<double>(runtime.plan().memory_of(0).total()),
                 static_cast<double>(backend->device().allocated_bytes())};
  };
  const Bytes quarter = bytes_at(256), half = bytes_at(512), whole = bytes_at(1024);
  const double square = kTexts * kHeads * 1024.0 * 1024.0 * sizeof(float);
  for (const auto part : {&Bytes::planned, &Bytes::allocated}) {
    // 2 where memory is linear, but for what is rounded up; 4 where squares of the length dominate.
    EXPECT_NEAR((whole.*part - half.*part) / (half.*part - quarter.*part), 2, 0.1);
    EXPECT_LT(whole.*part, square);
  }
}

}  // namespace convoy::test
