/// A network that is only evaluated has the bits of one that trains, on every grid, without what training takes.
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/comm/tags.h"
#include "convoy/io/checkpoint.h"
#include "convoy/model/network_file.h"

#include "checkpoint/checkpointing.h"
#include "parallel/fixed_batch.h"
#include "parallel/mpi_main.h"
#include "parallel/storage_ways.h"
#include "step/evaluation_step.h"
#include "step/metrics.h"
#include "unit/model/toy_network.h"

namespace convoy::test {

namespace {

constexpr std::uint64_t kSeed = 5;
constexpr std::int64_t kMicro = 3, kMicroBatches = 4;

constexpr StorageWay kCpu = {"CPU in f32", make_cpu_backend, PrecisionKind::kF32, DataType::kFloat32};
constexpr StorageWay kEmulatedGpu = {"emulated GPU in f32", emulation::make_emulated_backend, PrecisionKind::kF32,
                                     DataType::kFloat32};

Network make_toy(const NetworkSpec& spec) {
  return toy_network(image_of(spec).batch(spec.micro_batch), spec.num_classes, spec.type);
}

RuntimeSpec spec_of(const NetworkSpec& network, DataType type) {
  RuntimeSpec spec{.network = network, .batch = {.global = kMicroBatches * kMicro, .micro = kMicro}};
  spec.network.micro_batch = kMicro;
  spec.network.num_classes = 10;
  spec.network.type = type;
  return spec;
}

NetworkSpec of_images(const std::string& name, const ImageShape& images) {
  return {.name = name, .input = images};
}

NetworkSpec of_texts(const std::string& name, NormPlace norm = NormPlace::kAfter) {
  return {.name = name,
          .input = TextShape{.length = 16, .vocabulary = 30},
          .settings = network_settings({.layers = 2,
                                        .heads = 2,
                                        .width = 32,
                                        .feedforward = 48,
                                        .activation = ActivationKind::kGelu,
                                        .norm = norm})};
}

/// Cells of every kind.
std::vector<NetworkSpec> all_networks() {
  NetworkSpec toy = of_images("toy", {12, 10, 3});
  toy.make_cells = make_toy;
  return {toy,
          of_images("resnet20", {12, 12, 1}),
          of_images("resnet18", {33, 31, 3}),
          of_images("resnext50_32x4d", {32, 32, 3}),
          of_images("pyramidnet20-a27", {12, 12, 3}),
          of_images("wrn10-2", {12, 12, 3}),
          of_images("convnext_atto", {32, 32, 3}),
          of_images("mobilenet_v3_small", {32, 32, 3}),
          of_images("vit_ti_8", {16, 16, 3}),
          of_texts("transformer"),
          of_texts("bert", NormPlace::kBefore),
          of_texts("bert_classifier")};
}

/// What evaluations of the same samples gave: of each micro-batch, in order.
struct Results {
  std::vector<std::byte> sums, logits;
};

/// At the root.
Results evaluate(EvaluationStep& evaluation, const mpi::Communicator& ranks) {
  FixedBatch batch(evaluation.runtime(), kSeed);
  evaluation.keep_logits();
  evaluation.run(batch);
  evaluation.run(batch);  // over memory that has been used
  evaluation.runtime().finish();
  const std::span<const ops::LossSums> sums =
      evaluation.loss() == nullptr ? std::span<const ops::LossSums>() : evaluation.loss()->sums();
  return {.sums = ranks.gather(std::as_bytes(sums), 0), .logits = ranks.gather(std::as_bytes(evaluation.logits()), 0)};
}

/// A training's parameters, its statistics among them, and at the root its own evaluation.
struct Trained {
  io::Checkpoint checkpoint;
  Results results;
};

Trained train(const mpi::Communicator& alone, const RuntimeSpec& spec, const StorageWay& way) {
  const ProcessGrid grid(alone, 1);
  const auto backend = way.make_backend();
  StatusBoard board;
  RankRuntime runtime(spec, grid, *backend, board);
  TrainingStep training(runtime);
  EvaluationStep evaluation(runtime);
  initialise_parameters({.seed = kSeed}, runtime);
  FixedBatch batch(runtime, kSeed + 1);
  training.run(batch, 0.01);
  runtime.finish();
  Results results = evaluate(evaluation, alone);
  return {.checkpoint = gather_checkpoint(training), .results = std::move(results)};
}

/// The root trains alone and sends the others its checkpoint.
Trained train_on_root(const RuntimeSpec& spec, const StorageWay& way) {
  const mpi::Communicator alone = world().split(world().rank(), 0);
  Trained trained;
  std::vector<std::byte> bytes;
  if (world().rank() == 0) {
    trained = train(alone, spec, way);
    trained.checkpoint.metadata = {
        // a checkpoint has one; this test reads the tensors only
        .name = spec.network.name,
        .input = io::ImageInput{.shape = {1, 1, 1}, .channel_mean = {0}, .channel_stddev = {1}},
        .class_names = {"one", "two"}};
    bytes = io::encode_checkpoint(trained.checkpoint);
  }
  std::int64_t size = std::ssize(bytes);
  world().broadcast(&size, sizeof size, 0);
  bytes.resize(static_cast<std::size_t>(size));
  world().broadcast(bytes.data(), size, 0);
  trained.checkpoint = io::decode_checkpoint(bytes, "the root's checkpoint");
  return trained;
}

void expect_bits_of_training(const RuntimeSpec& spec, const StorageWay& way) {
  const Trained trained = train_on_root(spec, way);
  RuntimeSpec evaluated = spec;
  evaluated.network.trains = false;
  for (const std::int64_t chunks : {1, 2}) {
    for (std::int64_t stages = 1; stages <= world().size(); stages *= 2) {
      if (chunks > 1 && (stages == 1 || stages * chunks > std::ssize(make_network(spec.network)))) continue;
      SCOPED_TRACE(fmt::format("{} stages of {} chunks", stages, chunks));
      evaluated.schedule = chunks > 1 ? ScheduleKind::kInterleaved : ScheduleKind::k1F1B;
      evaluated.chunks = chunks;
      const ProcessGrid grid(world(), stages);
      const auto backend = way.make_backend();
      StatusBoard board;
      RankRuntime runtime(evaluated, grid, *backend, board);
      EvaluationStep evaluation(runtime);
      restore_weights(trained.checkpoint.model, "the test", runtime);
      const Results results = evaluate(evaluation, world());
      if (!grid.is_root()) continue;
      EXPECT_EQ(results.sums, trained.results.sums);
      EXPECT_EQ(results.logits, trained.results.logits);
    }
  }
}

}  // namespace

TEST(EvaluationOnly, HasTheBitsOfATrainingsEvaluationOnEveryGrid) {
  for (const NetworkSpec& network : all_networks()) {
    for (const StorageWay& way : {kCpu, kStorageWays[0]}) {
      SCOPED_TRACE(fmt::format("{}, {}", network.name, way.name));
      expect_bits_of_training(spec_of(network, way.type), way);
    }
  }
}

TEST(EvaluationOnly, HasThemByTheKernelsOfAGpu) {
  for (const StorageWay& way : {kEmulatedGpu, kStorageWays[1], kStorageWays[2]}) {
    SCOPED_TRACE(way.name);
    expect_bits_of_training(spec_of(all_networks().front(), way.type), way);
  }
}

// More ranks than a step has micro-batches evaluate steps of more: the sum of a data set's losses must be the same.
TEST(EvaluationOnly, LossesDoNotDependOnHowManyMicroBatchesAStepHas) {
  constexpr std::int64_t kAll = 24;
  const mpi::Communicator alone = world().split(world().rank(), 0);
  const ProcessGrid grid(alone, 1);
  const auto loss_in_steps_of = [&](std::int64_t micro_batches) {
    RuntimeSpec spec = spec_of(all_networks().front(), DataType::kFloat32);
    spec.network.trains = false;
    spec.batch.global = micro_batches * kMicro;
    const auto backend = make_cpu_backend();
    StatusBoard board;
    RankRuntime runtime(spec, grid, *backend, board);
    EvaluationStep evaluation(runtime);
    initialise_parameters({.seed = kSeed}, runtime);
    MetricsChannel metrics(runtime, tags::kEvaluationLosses);
    StepMetrics total;
    for (std::int64_t first = 0; first < kAll; first += micro_batches) {
      FixedBatch batch(runtime, kSeed, first);
      evaluation.run(batch);
      metrics.post(evaluation.loss());
      metrics.collect_into(total);
    }
    metrics.finish();
    runtime.finish();
    EXPECT_EQ(total.num_samples(), kAll * kMicro);
    return total.mean_loss();
  };
  const double loss = loss_in_steps_of(1);
  for (const std::int64_t micro_batches : {2, 3, 4, 8, 24}) EXPECT_EQ(loss_in_steps_of(micro_batches), loss);
}

TEST(EvaluationOnly, RefusesToTrain) {
  RuntimeSpec spec = spec_of(all_networks().front(), DataType::kFloat32);
  spec.network.trains = false;
  const ProcessGrid grid(world(), 1);
  const auto backend = make_cpu_backend();
  StatusBoard board;
  RankRuntime runtime(spec, grid, *backend, board);
  EXPECT_THROW(TrainingStep{runtime}, std::logic_error);
}

}  // namespace convoy::test
