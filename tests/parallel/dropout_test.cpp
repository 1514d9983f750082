/// A network that draws random numbers inside its cells trains alike on every grid and schedule, recomputed or not, and
/// draws anew in each step.
#include <algorithm>
#include <span>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "checkpoint/checkpointing.h"
#include "parallel/fixed_batch.h"
#include "parallel/mpi_main.h"
#include "parallel/storage_ways.h"
#include "step/evaluation_step.h"
#include "step/metrics.h"
#include "unit/io/same_bits.h"
#include "unit/model/toy_network.h"

namespace convoy::test {

namespace {

constexpr int kTag = 7;
constexpr std::uint64_t kSeed = 5;
constexpr int kSteps = 4;  // recorded work is issued, captured, then replayed
constexpr double kLearningRate = 0.05;

constexpr StorageWay kWays[] = {
    {"CPU in f32", make_cpu_backend, PrecisionKind::kF32, DataType::kFloat32},
    {"emulated GPU in f32", emulation::make_emulated_backend, PrecisionKind::kF32, DataType::kFloat32},
    {"emulated GPU in fp16", emulation::make_emulated_backend, PrecisionKind::kFp16, DataType::kFloat16}};

Network make_toy(const NetworkSpec& spec) {
  return toy_network(image_of(spec).batch(spec.micro_batch), spec.num_classes, spec.type);
}

RuntimeSpec spec_of(DataType type, ScheduleKind schedule = ScheduleKind::k1F1B,
                    RecomputeKind recompute = RecomputeKind::kNone) {
  return {.network = {.name = "toy",
                      .input = ImageShape{8, 8, 3},
                      .micro_batch = 2,
                      .num_classes = 10,
                      .type = type,
                      .make_cells = make_toy},
          .batch = {.global = 8, .micro = 2},
          .schedule = schedule,
          .chunks = traits_of(schedule).has_chunks ? 2 : 1,
          .memory = {.recompute = recompute},
          .train = {.seed = kSeed},
          .run = {.bucket_mib = 0.01}};  // several per stage
}

template <ActivationKind activation>
RuntimeSpec spec_of_encoder(DataType type, ScheduleKind schedule, RecomputeKind recompute) {
  RuntimeSpec spec = spec_of(type, schedule, recompute);
  spec.network = {
      .name = "transformer",
      .input = TextShape{.length = 8, .vocabulary = 30},
      .transformer =
          {.layers = 4, .heads = 2, .width = 32, .feedforward = 48, .dropout = 0.2, .activation = activation},
      .micro_batch = 2,
      .num_classes = 10,
      .type = type};
  return spec;
}

RuntimeSpec spec_of_bert(DataType type, ScheduleKind schedule, RecomputeKind recompute) {
  RuntimeSpec spec = spec_of_encoder<ActivationKind::kGelu>(type, schedule, recompute);
  spec.network.name = "bert";
  spec.network.input = TextShape{.length = 16, .vocabulary = 30};
  spec.network.transformer.layers = 3;
  return spec;
}

RuntimeSpec spec_of_bert_classifier(DataType type, ScheduleKind schedule, RecomputeKind recompute) {
  RuntimeSpec spec = spec_of_bert(type, schedule, recompute);
  spec.network.name = "bert_classifier";
  return spec;
}

/// A runtime on some ranks and all that it needs.
class Training {
 public:
  Training(const mpi::Communicator& ranks, std::int64_t stages, const RuntimeSpec& spec, const StorageWay& way)
      : ranks_(ranks),
        grid_(ranks, stages),
        backend_(way.make_backend()),
        runtime_(spec, grid_, *backend_, board_),
        batch_(runtime_, kSeed),
        metrics_(runtime_, kTag) {
    initialise_parameters({.seed = kSeed}, runtime_);
    training_.loss_scale().restore({.scale = 0x1p10});
    evaluation_.keep_logits();
  }

  TrainingStep& step() { return training_; }
  /// The losses, at the root.
  std::vector<double> steps(int num, double learning_rate) {
    std::vector<double> losses;
    for (int i = 0; i < num; ++i) {
      training_.run(batch_, learning_rate);
      metrics_.post(training_.loss());
      runtime_.finish();
      if (grid_.is_root()) losses.push_back(metrics_.collect().mean_loss());
    }
    return losses;
  }
  /// The logits, at the root.
  std::vector<std::byte> evaluate() {
    evaluation_.run(batch_);
    return ranks_.gather(std::as_bytes(evaluation_.logits()), 0);
  }
  /// At the root.
  io::Checkpoint finish() {
    metrics_.finish();
    runtime_.finish();
    return gather_checkpoint(training_);
  }

 private:
  const mpi::Communicator& ranks_;
  ProcessGrid grid_;
  std::unique_ptr<ops::Backend> backend_;
  StatusBoard board_;
  RankRuntime runtime_;
  TrainingStep training_{runtime_};
  EvaluationStep evaluation_{runtime_};
  FixedBatch batch_;
  MetricsChannel metrics_;
};

struct Outcome {
  std::vector<double> losses;
  std::vector<std::byte> logits;
  io::Checkpoint end;
};

Outcome train(Training& training) {
  Outcome outcome{.losses = training.steps(kSteps, kLearningRate), .logits = training.evaluate(), .end = {}};
  outcome.end = training.finish();
  return outcome;
}

void expect_same_end(const io::Checkpoint& got, const io::Checkpoint& want) {
  expect_same_bits(got.model, want.model);
  expect_same_bits(got.optimizer.at("momentum"), want.optimizer.at("momentum"));
}

// 1; 1 x 2 and 2 x 1; 1 x 4 and 2 x 2.
std::vector<std::int64_t> all_stages() {
  return world().size() == 1 ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{1, 2};
}

using SpecOf = RuntimeSpec(DataType, ScheduleKind, RecomputeKind);

void expect_the_bits_of_one_rank(SpecOf* spec_of, std::span<const StorageWay> ways,
                                 std::span<const ScheduleKind> schedules) {
  for (const StorageWay& way : ways) {
    const auto one = on_rank_0_alone([&](const mpi::Communicator& alone) {
      Training training(alone, 1, spec_of(way.type, ScheduleKind::kGpipe, RecomputeKind::kNone), way);
      return train(training);
    });
    for (const std::int64_t stages : all_stages()) {
      for (const ScheduleKind schedule : schedules) {
        for (const RecomputeKind recompute : {RecomputeKind::kNone, RecomputeKind::kCell}) {
          SCOPED_TRACE(fmt::format("{}, {} stages, schedule {}, {}", way.name, stages, name_of(schedule),
                                   recompute == RecomputeKind::kCell ? "recomputed" : "all kept"));
          Training training(world(), stages, spec_of(way.type, schedule, recompute), way);
          const std::int64_t my_stage = training.step().runtime().grid().stage();
          EXPECT_EQ(training.step().runtime().plan().num_recomputed(my_stage) > 0, recompute == RecomputeKind::kCell);
          const Outcome many = train(training);
          if (!one) continue;
          EXPECT_EQ(many.losses, one->losses);
          EXPECT_EQ(many.logits, one->logits);
          expect_same_end(many.end, one->end);
        }
      }
    }
  }
}

}  // namespace

TEST(Dropout, EveryGridAndScheduleHasTheBitsOfOneRank) {
  expect_the_bits_of_one_rank(spec_of, kWays, all_schedules());
}

TEST(Dropout, AnEncoderOfTextsHasTheBitsOfOneRankOnEveryGridAndSchedule) {
  // On the CPU alone: emulated attention, which has tests of its own, would take minutes.
  expect_the_bits_of_one_rank(spec_of_encoder<ActivationKind::kGelu>, std::span(kWays).first(1), all_schedules());
  expect_the_bits_of_one_rank(spec_of_encoder<ActivationKind::kRelu>, std::span(kWays).first(1), all_schedules());
}

TEST(Dropout, BertHasTheBitsOfOneRankOnEveryGridAndSchedule) {
  expect_the_bits_of_one_rank(spec_of_bert, std::span(kWays).first(1), all_schedules());
  expect_the_bits_of_one_rank(spec_of_bert_classifier, std::span(kWays).first(1), all_schedules());
}

// At a learning rate of 0, with the same samples, all that differs between steps and between seeds is what is dropped.
TEST(Dropout, DrawsAnewInEachStepAndNothingInAnEvaluation) {
  for (const StorageWay& way : kWays) {
    SCOPED_TRACE(way.name);
    std::vector<double> losses;  // of two seeds
    for (const std::uint64_t seed : {kSeed, kSeed + 1}) {
      RuntimeSpec spec = spec_of(way.type);
      spec.train.seed = seed;
      Training training(world(), all_stages().back(), spec, way);
      for (const double loss : training.steps(kSteps, 0)) losses.push_back(loss);
      const std::vector<std::byte> logits = training.evaluate();
      EXPECT_EQ(training.evaluate(), logits);
      training.finish();
    }
    std::ranges::sort(losses);
    EXPECT_EQ(std::ranges::adjacent_find(losses), losses.end());
  }
}

TEST(Dropout, GoesOnAfterARestartAsIfThereHadBeenNone) {
  constexpr int kBefore = 2;
  const RuntimeSpec spec = spec_of(DataType::kFloat32);
  on_rank_0_alone([&](const mpi::Communicator& alone) {
    Training whole(alone, 1, spec, kWays[0]);
    const std::vector<double> losses = whole.steps(kSteps, kLearningRate);
    const io::Checkpoint end = whole.finish();

    Training before(alone, 1, spec, kWays[0]);
    before.steps(kBefore, kLearningRate);
    io::Checkpoint checkpoint = before.finish();
    checkpoint.state.step = checkpoint.state.updates = kBefore;

    Training after(alone, 1, spec, kWays[0]);
    restore_checkpoint(checkpoint, "the test", after.step());
    EXPECT_EQ(after.steps(kSteps - kBefore, kLearningRate),
              std::vector<double>(losses.begin() + kBefore, losses.end()));
    expect_same_end(after.finish(), end);
    return true;
  });
}

}  // namespace convoy::test
