/// Steps that minimise errors of numbers, or the loss of several labels: against plain loops, with the same bits on
/// every grid, and in the memory that was planned.
#include <cmath>
#include <optional>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/comm/tags.h"

#include "checkpoint/checkpointing.h"
#include "model/cell_builder.h"
#include "model/layers/linear.h"
#include "parallel/fixed_batch.h"
#include "parallel/mpi_main.h"
#include "parallel/storage_ways.h"
#include "reference/linear.h"
#include "reference/storage.h"
#include "reference/target_loss.h"
#include "step/evaluation_step.h"
#include "step/metrics.h"
#include "step/training_step.h"
#include "unit/io/same_bits.h"

namespace convoy::test {

namespace {

using ops::TargetLossKind;
using reference::Array;
using reference::index;

constexpr int kTag = 7;
constexpr std::uint64_t kSeed = 5;
constexpr std::int64_t kMicro = 3, kMicroBatches = 4, kGlobal = kMicro * kMicroBatches, kOutputs = 3, kInputs = 8;

struct LossCase {
  LossKind loss;
  TargetLossKind kind;
  TargetKind target = TargetKind::kNumbers;
  std::vector<float> weights = {};
};

const std::vector<LossCase>& all_losses() {
  static const std::vector<LossCase> kAll = {
      {LossKind::kMse, TargetLossKind::kSquaredError},
      {LossKind::kMae, TargetLossKind::kAbsoluteError, TargetKind::kNumbers, {1, 0.5F, 3}},
      {LossKind::kHuber, TargetLossKind::kHuberError, TargetKind::kNumbers, {0.25F, 2, 1}},
      {LossKind::kBinaryCrossEntropy, TargetLossKind::kBinaryCrossEntropy, TargetKind::kLabels, {4, 1, 0.5F}}};
  return kAll;
}

/// One linear layer, whose outputs and gradients plain loops compute.
Network one_layer(const NetworkSpec& spec) {
  CellBuilder cell({.name = "fc", .type = spec.type});
  const Shape x = std::get<ImageShape>(spec.input).batch(spec.micro_batch);
  Network network;
  network.push_back(cell.finish(logits("fc", cell.feature(features::kImage, {x, spec.type}), spec.num_classes)));
  return network;
}

/// Four cells that compute at each pixel of an image.
Network pixel_layers(const NetworkSpec& spec) {
  Network network;
  Shape x = std::get<ImageShape>(spec.input).batch(spec.micro_batch);
  for (const char* const name : {"first", "second", "third", "last"}) {
    CellBuilder cell({.name = name, .type = spec.type});
    const Value in = network.empty() ? cell.feature(features::kImage, {x, spec.type}) : cell.input(x);
    const bool is_last = network.size() == 3;
    network.push_back(cell.finish(is_last ? pixel_logits("fc", in, spec.num_classes) : linear("fc", in, kInputs)));
    x.c = kInputs;
  }
  return network;
}

/// A perceptron of four cells, a share for each of four stages.
RuntimeSpec spec_of(const LossCase& loss, DataType type) {
  RuntimeSpec spec{.network = {.name = "mlp",
                               .input = ImageShape{1, 1, kInputs},
                               .settings = {{"layers", "3"}, {"width", "16"}},
                               .micro_batch = kMicro,
                               .num_classes = kOutputs,
                               .target = {.kind = loss.target, .shape = Shape::vectors(1, kOutputs)},
                               .type = type},
                   .batch = {.global = kGlobal, .micro = kMicro},
                   .run = {.bucket_mib = 0.001},  // several per stage
                   .output_weights = loss.weights};
  if (loss.target == TargetKind::kNumbers) {
    spec.network.target.mean = {3, 0, -1};
    spec.network.target.stddev = {2, 0, 0.5};  // 0 counts as 1
  }
  spec.optimizer.weight_decay = 0;
  spec.train.loss = loss.loss;
  spec.train.huber_delta = 0.75;
  return spec;
}

RuntimeSpec spec_of_one_layer(const LossCase& loss, DataType type) {
  RuntimeSpec spec = spec_of(loss, type);
  spec.network.name = "fc";
  spec.network.settings = {};
  spec.network.make_cells = one_layer;
  return spec;
}

/// A runtime on some ranks and all that it needs.
struct Steps {
  Steps(const mpi::Communicator& ranks, std::int64_t stages, const RuntimeSpec& spec, const StorageWay& way)
      : grid(ranks, stages),
        backend(way.make_backend()),
        runtime(spec, grid, *backend, board),
        batch(runtime, kSeed),
        metrics(runtime, kTag) {
    initialise_parameters({.seed = kSeed}, runtime);
    training.loss_scale().restore({.scale = 0x1p10});
  }

  /// The sums of a step, at the root.
  ops::LossSums collect(const StepLoss* loss) {
    metrics.post(loss);
    runtime.finish();
    return grid.is_root() ? metrics.collect().objectives.front() : ops::LossSums();
  }
  ops::LossSums train() {
    training.run(batch, 0.05);
    return collect(training.loss());
  }
  ops::LossSums evaluate() {
    evaluation.run(batch);
    return collect(evaluation.loss());
  }
  io::Checkpoint finish() {
    metrics.finish();
    runtime.finish();
    return gather_checkpoint(training);
  }

  ProcessGrid grid;
  std::unique_ptr<ops::Backend> backend;
  StatusBoard board;
  RankRuntime runtime;
  TrainingStep training{runtime};
  EvaluationStep evaluation{runtime};
  FixedBatch batch;
  MetricsChannel metrics;
};

Array values_of(const std::vector<io::NamedTensor>& tensors, const std::string& name) {
  for (const io::NamedTensor& tensor : tensors)
    if (tensor.name == name) return {tensor.values.begin(), tensor.values.end()};
  ADD_FAILURE() << "no " << name;
  return {};
}

/// The step of one_layer() by plain loops over all samples.
struct PlainStep {
  PlainStep(const LossCase& loss, DataType type, const std::vector<io::NamedTensor>& model, bool in_training) {
    const RuntimeSpec runtime = spec_of_one_layer(loss, type);
    const ops::LinearSpec linear{.n = kGlobal, .num_inputs = kInputs, .num_outputs = kOutputs};
    const ops::TargetLossSpec spec{.n = kGlobal,
                                   .num_outputs = kOutputs,
                                   .kind = loss.kind,
                                   .huber_delta = 0.75,
                                   .mean = runtime.network.target.mean,
                                   .stddev = runtime.network.target.stddev,
                                   .weights = in_training ? loss.weights : std::vector<float>{}};
    Array x, targets;
    for (std::int64_t m = 0; m < kMicroBatches; ++m)
      for (std::int64_t i = 0; i < kMicro * kInputs; ++i) x.push_back(double{fixed_pixel(kSeed, m, i)});
    for (std::int64_t n = 0; n < kGlobal; ++n)
      for (std::int64_t k = 0; k < kOutputs; ++k) targets.push_back(double{fixed_target(runtime.network.target, n, k)});
    x = reference::rounded(type, x);
    const Array w = reference::rounded(type, values_of(model, "fc.weight")),
                y = reference::linear(linear, x, w, values_of(model, "fc.bias"));
    const auto scores = reference::target_scores(spec, targets, y);
    for (std::size_t n = 0; n < scores.loss.size(); ++n) {
      sums.loss += scores.loss[n];
      sums.num_correct += static_cast<std::int64_t>(scores.num_correct[n]);
      sums.num_labels += static_cast<std::int64_t>(scores.num_labels[n]);
      sums.num_samples += scores.num_labels[n] > 0 ? 1 : 0;
    }
    // The loss of a step is a mean over its samples. One without a target adds nothing to the gradient.
    const auto gradient = reference::linear_gradient(
        linear, x, w, reference::target_gradient(spec, targets, y, Array(index(kGlobal), 1.0 / kGlobal)));
    dw = gradient.dw;
    db = gradient.db;
  }

  ops::LossSums sums;
  Array dw, db;
};

void expect_near(const ops::LossSums& got, const ops::LossSums& want, double tolerance) {
  EXPECT_NEAR(got.loss, want.loss, tolerance * want.loss);
  EXPECT_EQ(got.num_correct, want.num_correct);
  EXPECT_EQ(got.num_labels, want.num_labels);
  EXPECT_EQ(got.num_samples, want.num_samples);
}

// 1; 1 x 2 and 2 x 1; up to 4 x 1.
std::vector<std::int64_t> all_stages() {
  std::vector<std::int64_t> stages;
  for (std::int64_t s = 1; s <= world().size(); s *= 2) stages.push_back(s);
  return stages;
}

constexpr StorageWay kWays[] = {
    {"CPU in f32", make_cpu_backend, PrecisionKind::kF32, DataType::kFloat32},
    kStorageWays[0],
    {"emulated GPU in f32", emulation::make_emulated_backend, PrecisionKind::kF32, DataType::kFloat32},
    kStorageWays[2]};

}  // namespace

TEST(TargetStep, HasTheLossAndTheGradientsOfPlainLoops) {
  // Sums of a few numbers in float32; in 16 bits the gradients of outputs are rounded before they are multiplied.
  for (const StorageWay& way : kWays) {
    for (const LossCase& loss : all_losses()) {
      SCOPED_TRACE(fmt::format("{}, {}", way.name, name_of(loss.loss)));
      on_rank_0_alone([&](const mpi::Communicator& alone) {
        Steps steps(alone, 1, spec_of_one_layer(loss, way.type), way);
        const io::Checkpoint start = gather_checkpoint(steps.training);
        const PlainStep evaluated(loss, way.type, start.model, /*in_training=*/false),
            trained(loss, way.type, start.model, /*in_training=*/true);
        const double of_loss = way.type == DataType::kFloat32 ? 1e-6 : 1e-3,  // the bias is rounded, too
            of_gradients = way.type == DataType::kFloat32   ? 1e-5
                           : way.type == DataType::kFloat16 ? 2e-3
                                                            : 1e-2;
        expect_near(steps.evaluate(), evaluated.sums, of_loss);
        EXPECT_NE(evaluated.sums.loss == trained.sums.loss, !loss.weights.empty()) << "weights count in training alone";
        expect_near(steps.train(), trained.sums, of_loss);
        const io::Checkpoint end = steps.finish();
        const auto& gradients = end.optimizer.at("momentum");
        EXPECT_LE(reference::relative_distance(values_of(gradients, "fc.weight"), trained.dw), of_gradients);
        EXPECT_LE(reference::relative_distance(values_of(gradients, "fc.bias"), trained.db), of_gradients);
        return true;
      });
    }
  }
}

TEST(TargetStep, EveryGridAndScheduleHasTheBitsOfOneRank) {
  constexpr int kSteps = 3;
  const std::vector<ScheduleKind> all = {ScheduleKind::kGpipe, ScheduleKind::k1F1B, ScheduleKind::kZeroBubble},
                                  one_kind = {ScheduleKind::k1F1B};  // emulated steps take long
  for (const StorageWay& way : kWays) {
    for (const LossCase& loss : all_losses()) {
      const auto train = [&](Steps& steps) {
        std::vector<double> losses;
        for (int i = 0; i < kSteps; ++i) losses.push_back(steps.train().loss);
        losses.push_back(steps.evaluate().loss);
        return std::pair(losses, steps.finish());
      };
      const auto one = on_rank_0_alone([&](const mpi::Communicator& alone) {
        Steps steps(alone, 1, spec_of(loss, way.type), way);
        return train(steps);
      });
      for (const std::int64_t stages : all_stages()) {
        for (const ScheduleKind schedule : way.make_backend == make_cpu_backend ? all : one_kind) {
          SCOPED_TRACE(
              fmt::format("{}, {}, {} stages, schedule {}", way.name, name_of(loss.loss), stages, name_of(schedule)));
          RuntimeSpec spec = spec_of(loss, way.type);
          spec.schedule = schedule;
          Steps steps(world(), stages, spec, way);
          const auto [losses, end] = train(steps);
          if (!one) continue;
          EXPECT_EQ(losses, one->first);
          EXPECT_LT(losses[kSteps - 1], losses.front());
          expect_same_bits(end.model, one->second.model);
          expect_same_bits(end.optimizer.at("momentum"), one->second.optimizer.at("momentum"));
        }
      }
    }
  }
}

// More ranks than a step has micro-batches evaluate steps of more: the sum of a data set's losses must be the same.
TEST(TargetStep, LossesOfAnEvaluationDoNotDependOnHowManyMicroBatchesAStepHas) {
  const mpi::Communicator alone = world().split(world().rank(), 0);
  const ProcessGrid grid(alone, 1);
  for (const LossCase& loss : all_losses()) {
    SCOPED_TRACE(name_of(loss.loss));
    const auto loss_in_steps_of = [&](std::int64_t micro_batches) {
      RuntimeSpec spec = spec_of(loss, DataType::kFloat32);
      spec.network.trains = false;
      spec.batch.global = micro_batches * kMicro;
      const auto backend = make_cpu_backend();
      StatusBoard board;
      RankRuntime runtime(spec, grid, *backend, board);
      EvaluationStep evaluation(runtime);
      initialise_parameters({.seed = kSeed}, runtime);
      MetricsChannel metrics(runtime, tags::kEvaluationLosses);
      StepMetrics total;
      for (std::int64_t first = 0; first < kMicroBatches; first += micro_batches) {
        FixedBatch batch(runtime, kSeed, first);
        evaluation.run(batch);
        metrics.post(evaluation.loss());
        metrics.collect_into(total);
      }
      metrics.finish();
      runtime.finish();
      EXPECT_EQ(total.num_samples(), kGlobal - 1);
      return total.mean_loss();
    };
    const double in_steps_of_one = loss_in_steps_of(1);
    for (const std::int64_t micro_batches : {2, 4}) EXPECT_EQ(loss_in_steps_of(micro_batches), in_steps_of_one);
  }
}

// A thousand numbers of a sample, or ten at each of a hundred pixels: their targets are most of what a rank of the last
// stage holds.
TEST(TargetStep, PlansTheMemoryOfTargets) {
  constexpr std::int64_t kMany = 1000;
  for (const auto& [trains, is_field] : {std::pair(true, false), {false, false}, {true, true}, {false, true}}) {
    for (const std::int64_t stages : all_stages()) {
      RuntimeSpec spec = spec_of(all_losses().front(), DataType::kFloat32);
      spec.network.num_classes = kMany;
      spec.network.target = {.kind = TargetKind::kNumbers, .shape = Shape::vectors(1, kMany)};
      if (is_field) {
        spec.network.input = ImageShape{10, 10, kInputs};
        spec.network.settings = {};
        spec.network.make_cells = pixel_layers;
        spec.network.num_classes = 10;
        spec.network.target.shape = Shape::images(1, 10, 10, 10);
        spec.network.target.dims = {10, 10, 10};
      }
      spec.network.trains = trains;
      spec.batch.global = 100 * kMicro;
      const ProcessGrid grid(world(), stages);
      const auto backend = make_cpu_backend();
      StatusBoard board;
      RankRuntime runtime(spec, grid, *backend, board);
      const StageMemory planned = runtime.plan().memory_of(grid.stage());
      const std::int64_t before = runtime.device().allocated_bytes(), scratch = backend->scratch_bytes();
      std::optional<TrainingStep> training;
      if (trains) training.emplace(runtime);
      const EvaluationStep evaluation(runtime);
      const std::int64_t taken = runtime.device().allocated_bytes() - before - (backend->scratch_bytes() - scratch);
      const std::int64_t samples = runtime.plan().micro_batches_of(runtime.plan().busiest_replica()).size() * kMicro;
      EXPECT_EQ(taken >= samples * kMany * kFloatBytes, grid.is_last_stage());
      EXPECT_LE(runtime.device().allocated_bytes(), planned.total() + backend->scratch_bytes());
    }
  }
}

}  // namespace convoy::test
