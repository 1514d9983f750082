/// Whole training steps in 16-bit storage, on the CPU and on the emulated GPU: the same bits on every grid, near
/// float32's, and no step from gradients that overflowed.
#include <cmath>
#include <cstring>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "checkpoint/checkpointing.h"
#include "parallel/fixed_batch.h"
#include "parallel/mpi_main.h"
#include "parallel/storage_ways.h"
#include "reference/array.h"
#include "reference/storage.h"
#include "step/metrics.h"
#include "unit/io/same_bits.h"
#include "unit/ops/forwarding_backend.h"

namespace convoy::test {

namespace {

constexpr int kTag = 7;
constexpr std::uint64_t kSeed = 5;
constexpr double kLearningRate = 0.05;

// The loss's gradient reaches scale / batch.global * (1 - p), with p about 1 / classes at the first step: beyond fp16's
// 65504 at 2^20 / 8 * 0.9, whatever the network does. 2^10 leaves room for gradients a hundred times larger.
constexpr double kOverflowingScale = 0x1p20, kSmallScale = 0x1p10;

// Four micro-batches per step: a share for each of four replicas, work for each of four stages.
RuntimeSpec spec_of(DataType type, ScheduleKind schedule = ScheduleKind::k1F1B) {
  return {
      .network = {.name = "resnet20", .input = ImageShape{8, 8, 3}, .micro_batch = 2, .num_classes = 10, .type = type},
      .batch = {.global = 8, .micro = 2},
      .schedule = schedule,
      .chunks = schedule == ScheduleKind::kInterleaved ? 2 : 1,
      .run = {.bucket_mib = 0.125}};  // several per stage
}

/// A runtime on some ranks and all that it needs.
class Training {
 public:
  Training(const mpi::Communicator& ranks, std::int64_t stages, const RuntimeSpec& spec, ops::Backend& backend)
      : grid_(ranks, stages),
        runtime_(spec, grid_, backend, board_),
        batch_(runtime_, kSeed),
        metrics_(runtime_, kTag) {
    initialise_parameters({.seed = kSeed}, runtime_);
  }

  TrainingStep& parts() { return training_; }
  bool is_root() const { return grid_.is_root(); }

  /// The loss, at the root.
  double step() {
    training_.run(batch_, kLearningRate);
    metrics_.post(training_.loss());
    runtime_.finish();
    return grid_.is_root() ? metrics_.collect().mean_loss() : 0;
  }
  io::Checkpoint finish() {
    metrics_.finish();
    io::Checkpoint checkpoint = gather_checkpoint(training_);
    checkpoint.state.loss_scale = training_.loss_scale().state().scale;
    checkpoint.state.loss_scale_steps = training_.loss_scale().state().good_steps;
    return checkpoint;
  }

 private:
  ProcessGrid grid_;
  StatusBoard board_;
  RankRuntime runtime_;
  TrainingStep training_{runtime_};
  FixedBatch batch_;
  MetricsChannel metrics_;
};

struct Recipe {
  RuntimeSpec spec;
  int steps = 1;
  double loss_scale = kSmallScale;  ///< fp16: at the first step
  std::unique_ptr<ops::Backend> (*make_backend)() = nullptr;
};

struct Outcome {
  std::vector<double> losses;
  io::Checkpoint start, first, end;  ///< before all steps, after the first, after all

  // first - start, of the parameters or of the running statistics.
  std::vector<double> change(bool statistics) const {
    std::vector<double> change;
    for (std::size_t i = 0; i < start.model.size(); ++i) {
      const io::NamedTensor &before = start.model[i], &after = first.model[i];
      if ((before.name.find(".running_") != std::string::npos) != statistics) continue;
      for (std::size_t k = 0; k < before.values.size(); ++k)
        change.push_back(double{after.values[k]} - double{before.values[k]});
    }
    return change;
  }
};

/// The root's outcome.
Outcome train(const mpi::Communicator& ranks, std::int64_t stages, const Recipe& recipe) {
  const auto backend = recipe.make_backend();
  Training training(ranks, stages, recipe.spec, *backend);
  training.parts().loss_scale().restore({.scale = recipe.loss_scale});
  Outcome outcome{.losses = {}, .start = gather_checkpoint(training.parts()), .first = {}, .end = {}};
  for (int i = 0; i < recipe.steps; ++i) {
    outcome.losses.push_back(training.step());
    if (i == 0) outcome.first = gather_checkpoint(training.parts());
  }
  outcome.end = training.finish();
  return outcome;
}

// Batch norm over 64 values and more: what it divides by is no matter of a single one.
Outcome train_larger(std::int64_t stages, DataType type, const StorageWay& way) {
  Recipe recipe{.spec = spec_of(type), .steps = 4, .make_backend = way.make_backend};
  recipe.spec.network.input = ImageShape{16, 16, 3};
  recipe.spec.network.micro_batch = recipe.spec.batch.micro = 4;
  recipe.spec.batch.global = 16;
  return train(world(), stages, recipe);
}

std::vector<std::int64_t> all_stages() {
  std::vector<std::int64_t> stages;
  for (std::int64_t s = 1; s <= world().size(); s *= 2) stages.push_back(s);
  return stages;
}

void expect_same_outcome(const Outcome& got, const Outcome& want) {
  EXPECT_EQ(got.losses, want.losses);
  expect_same_bits(got.end.model, want.end.model);
  expect_same_bits(got.end.optimizer.at("momentum"), want.end.optimizer.at("momentum"));
  EXPECT_EQ(got.end.state.loss_scale, want.end.state.loss_scale);
  EXPECT_EQ(got.end.state.loss_scale_steps, want.end.state.loss_scale_steps);
}

// What an update may change on this rank: masters with running statistics, their copies, the optimizer's shard.
std::vector<std::byte> memory_of(const TrainingStep& training) {
  const RankRuntime& runtime = training.runtime();
  const ParameterArenas parameters = runtime.stage().parameters();
  const std::int64_t count = runtime.stage().plan().layout.count;
  std::vector<std::byte> all;
  const auto append = [&](const void* data, std::int64_t size_bytes) {
    std::vector<std::byte> bytes(size_bytes);
    runtime.device().copy_to_host(bytes.data(), data, size_bytes);
    all.insert(all.end(), bytes.begin(), bytes.end());
  };
  append(parameters.masters, count * kFloatBytes);
  append(parameters.copies, count * size_of(parameters.type));
  for (const float* state : training.update().states()) append(state, training.update().shard_count() * kFloatBytes);
  return all;
}

/// Reports a value that is not a finite number if a test says so, in addition to those that exist.
class FindingOps final : public ops::ElementwiseOps {
 public:
  explicit FindingOps(ops::ElementwiseOps& inner) : inner_(inner) {}
  bool finds = false;

  void find_non_finite(const float* values, std::int64_t count, std::int32_t* found) override {
    inner_.find_non_finite(values, count, found);
    if (finds) *found = 1;
  }
  void add_checksum(const void* data, std::int64_t size_bytes, std::uint64_t* sum) override {
    inner_.add_checksum(data, size_bytes, sum);
  }

  void add(DataType type, const void* a, const void* b, void* sum, std::int64_t count) override {
    inner_.add(type, a, b, sum, count);
  }
  void fold(std::span<const float* const> blocks, float* sum, std::int64_t count) override {
    inner_.fold(blocks, sum, count);
  }
  void copy(const void* from, void* to, std::int64_t size_bytes) override { inner_.copy(from, to, size_bytes); }
  void round_to(DataType type, const float* from, void* to, std::int64_t count) override {
    inner_.round_to(type, from, to, count);
  }
  void sgd(const ops::SgdSpec& spec, const ops::SgdArguments& args) override { inner_.sgd(spec, args); }
  void adam(const ops::AdamSpec& spec, const ops::AdamArguments& args) override { inner_.adam(spec, args); }
  void adam_direction(const ops::AdamSpec& spec, const ops::AdamDirectionArguments& args) override {
    inner_.adam_direction(spec, args);
  }
  void descend(float rate, DataType copy_type, const ops::DescentArguments& args) override {
    inner_.descend(rate, copy_type, args);
  }
  void sum_squares(const float* values, const ops::SumPiece* pieces, std::int64_t num_pieces, double* sums) override {
    inner_.sum_squares(values, pieces, num_pieces, sums);
  }
  void moving_average(float keep, float scale, const float* sum, float* running, std::int64_t count) override {
    inner_.moving_average(keep, scale, sum, running, count);
  }

 private:
  ops::ElementwiseOps& inner_;
};

class FindingBackend final : public ops::ForwardingBackend {
 public:
  explicit FindingBackend(ops::Backend& inner) : ForwardingBackend(inner), elementwise_(inner.elementwise()) {}

  FindingOps& elementwise() override { return elementwise_; }

 private:
  FindingOps elementwise_;
};

}  // namespace

TEST(MixedPrecision, EveryGridAndScheduleHasTheBitsOfOneRank) {
  for (const StorageWay& way : kStorageWays) {
    // In fp16 the first step is skipped.
    const auto recipe = [&](ScheduleKind schedule) {
      return Recipe{.spec = spec_of(way.type, schedule),
                    .steps = 4,
                    .loss_scale = kOverflowingScale,
                    .make_backend = way.make_backend};
    };
    const auto one =
        on_rank_0_alone([&](const mpi::Communicator& alone) { return train(alone, 1, recipe(ScheduleKind::kGpipe)); });
    for (const std::int64_t stages : all_stages()) {
      for (const ScheduleKind schedule : all_schedules()) {
        SCOPED_TRACE(fmt::format("{}, {} stages, schedule {}", way.name, stages, static_cast<int>(schedule)));
        const Outcome many = train(world(), stages, recipe(schedule));
        if (one) expect_same_outcome(many, *one);
      }
    }
  }
}

// A value is off by 2^-9 of itself when it is stored in bf16, by 2^-12 in fp16 (root mean squares: half a unit at most,
// and evenly up to there), and a micro-batch passes about 40 tensors on its way through 19 convolutions, their
// normalisations and ReLUs:
//   activations, and so logits near 1, statistics and losses:  e = sqrt(40) r,  r = 2^-9 or 2^-12
// What moves gradients most are ReLUs whose input is that near zero: they pass what they should stop. Of normal inputs
// to the k-th, off by e_k = sqrt(2 k) r, the sign changes for e_k / 3, in whom 2/3 e_k of what passes has its energy:
//   gradients:  d = sqrt(2/3 sum_k e_k) = 0.33 or 0.12
// The loss falls by what the update brings: of that fall the same share may be missing.
TEST(MixedPrecision, LossesAndUpdatesAreNearFloat32s) {
  const std::int64_t stages = world().size();  // other grids have the same bits
  for (const StorageWay& way : kStorageWays) {
    SCOPED_TRACE(way.name);
    const Outcome f32 = train_larger(stages, DataType::kFloat32, way), half = train_larger(stages, way.type, way);
    if (world().rank() != 0) continue;
    const double r = way.type == DataType::kBfloat16 ? 0x1p-9 : 0x1p-12, e = std::sqrt(40) * r;
    double sum = 0;
    for (int k = 1; k <= 19; ++k) sum += std::sqrt(2 * k) * r;
    const double d = std::sqrt(2.0 / 3 * sum);
    EXPECT_LE(reference::relative_distance(half.change(false), f32.change(false)), d);
    EXPECT_LE(reference::relative_distance(half.change(true), f32.change(true)), e);
    for (std::size_t k = 0; k < f32.losses.size(); ++k)
      EXPECT_NEAR(half.losses[k], f32.losses[k], e + d * (f32.losses[0] - f32.losses[k])) << "step " << k;
    EXPECT_LT(f32.losses.back(), 0.6 * f32.losses[0]);  // or there was no fall to compare
  }
}

TEST(MixedPrecision, CopiesOfTheWeightsAreTheMastersRoundedOnEveryReplica) {
  for (const StorageWay& way : kStorageWays) {
    for (const std::int64_t stages : all_stages()) {
      const auto backend = way.make_backend();
      Training training(world(), stages, spec_of(way.type), *backend);
      training.parts().loss_scale().restore({.scale = kSmallScale});
      for (int i = 0; i < 3; ++i) training.step();
      const ParameterArenas parameters = training.parts().runtime().stage().parameters();
      for (const ArenaEntry& entry : training.parts().runtime().stage().plan().layout.entries) {
        if (entry.spec.is_statistic()) continue;  // used as float32 alone
        for (std::int64_t i = entry.offset; i < entry.offset + entry.spec.count(); ++i) {
          std::uint16_t copy = 0;
          std::memcpy(&copy, parameters.copy_at(i), sizeof(copy));
          ASSERT_EQ(copy, reference::encoded(way.type, reference::rounded(way.type, double{parameters.masters[i]})))
              << entry.spec.name << ", " << way.name << ", " << stages << " stages";
        }
      }
      training.finish();
    }
  }
}

TEST(LossScaling, AStepThatOverflowsIsSkippedByAllRanksAndTheNextGoOn) {
  for (const std::int64_t stages : all_stages()) {
    SCOPED_TRACE(fmt::format("{} stages", stages));
    const auto backend = emulation::make_emulated_backend();
    Training training(world(), stages, spec_of(DataType::kFloat16), *backend);
    TrainingStep& parts = training.parts();
    parts.loss_scale().restore({.scale = 2 * kOverflowingScale, .good_steps = 3});
    const std::vector<std::byte> start = memory_of(parts);
    std::vector<double> losses;
    for (const double scale : {2 * kOverflowingScale, kOverflowingScale}) {
      EXPECT_EQ(parts.loss_scale().scale(), scale);
      losses.push_back(training.step());
      EXPECT_EQ(parts.loss_scale().state(), (LossScaleState{.scale = scale / 2, .good_steps = 0}));
      EXPECT_TRUE(memory_of(parts) == start);
    }
    parts.loss_scale().restore({.scale = kSmallScale, .good_steps = 0});
    for (int i = 1; i <= 3; ++i) {
      const std::vector<std::byte> before = memory_of(parts);
      losses.push_back(training.step());
      EXPECT_EQ(parts.loss_scale().state(), (LossScaleState{.scale = kSmallScale, .good_steps = i}));
      EXPECT_FALSE(memory_of(parts) == before);
    }
    if (training.is_root()) {
      EXPECT_EQ(losses[0], losses[1]);
      EXPECT_EQ(losses[1], losses[2]);  // the same parameters, the same batch
      EXPECT_LT(losses[3], 0.8 * losses[2]);
      EXPECT_LT(losses[4], 0.8 * losses[3]);
    }
    training.finish();
  }
}

// Its averages take up gradients before the update: only those of steps that are not skipped.
TEST(LossScaling, AStepThatOverflowsLeavesLambsAveragesAlone) {
  for (const std::int64_t stages : all_stages()) {
    SCOPED_TRACE(fmt::format("{} stages", stages));
    const auto backend = emulation::make_emulated_backend();
    RuntimeSpec spec = spec_of(DataType::kFloat16);
    spec.optimizer.kind = OptimizerKind::kLamb;
    Training training(world(), stages, spec, *backend);
    TrainingStep& parts = training.parts();
    for (const double scale : {kSmallScale, kOverflowingScale, kSmallScale}) {
      parts.loss_scale().restore({.scale = scale, .good_steps = 0});
      const std::vector<std::byte> before = memory_of(parts);
      training.step();
      EXPECT_EQ(memory_of(parts) == before, scale == kOverflowingScale) << scale;
    }
    training.finish();
  }
}

TEST(LossScaling, AnOverflowThatOneRankAloneFindsIsSkippedByAll) {
  for (const std::int64_t stages : all_stages()) {
    const auto emulated = emulation::make_emulated_backend();
    FindingBackend backend(*emulated);
    Training training(world(), stages, spec_of(DataType::kFloat16), backend);
    TrainingStep& parts = training.parts();
    parts.loss_scale().restore({.scale = kSmallScale, .good_steps = 0});
    training.step();
    for (int finder = 0; finder < world().size(); ++finder) {
      SCOPED_TRACE(fmt::format("{} stages, rank {} finds it", stages, finder));
      const double scale = parts.loss_scale().scale();
      const std::vector<std::byte> before = memory_of(parts);
      backend.elementwise().finds = world().rank() == finder;
      training.step();
      EXPECT_EQ(parts.loss_scale().state(), (LossScaleState{.scale = scale / 2, .good_steps = 0}));
      EXPECT_TRUE(memory_of(parts) == before);
      backend.elementwise().finds = false;
      training.step();
      EXPECT_EQ(parts.loss_scale().state(), (LossScaleState{.scale = scale / 2, .good_steps = 1}));
      EXPECT_FALSE(memory_of(parts) == before);
    }
    training.finish();
  }
}

}  // namespace convoy::test
