/// The calls of CUDA, NCCL and MPI in a step of resnet50 may grow only with the logarithm of the number of replicas.
#include "counting/calls.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include "convoy/comm/process_grid.h"
#include "convoy/comm/transport.h"
#include "convoy/model/arena_layout.h"

#include "comm/nccl/nccl_transport.h"
#include "device/cuda/cuda_device.h"
#include "emulation/emulated_backend.h"
#include "parallel/fixed_batch.h"
#include "step/training_step.h"

namespace convoy {

// Replaces the choice by hardware: each rank of the simulated job has a GPU of its own.
std::unique_ptr<Transport> make_transport(const ProcessGrid& grid, Device& device) {
  return nccl::make_nccl_transport(grid, dynamic_cast<cuda::CudaDevice&>(device));
}

namespace counting {

namespace {

constexpr int kRanksOfNode = 8;

/// The calls of rank 0 in a step, and the traffic that it sends on each level of the network.
struct StepCalls {
  std::int64_t num_values = 0, num_buckets = 0;  ///< numbers of values and of buckets that are exchanged
  Calls calls;
  Traffic on_the_node, between_nodes;
};

/// The ranks in the order of the slices that they own.
std::vector<int> by_slice(int ranks) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) order[static_cast<std::size_t>(slice_number(r, ranks))] = r;
  return order;
}

std::vector<int> all(int ranks) {
  std::vector<int> list(static_cast<std::size_t>(ranks));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

RuntimeSpec resnet50(int replicas, ReductionKind reduction) {
  return {.network = {.name = "resnet50",
                      .input = ImageShape{64, 64, 3},
                      .micro_batch = 1,
                      .num_classes = 1000,
                      .type = DataType::kBfloat16},
          .batch = {.global = replicas, .micro = 1},
          .optimizer = {.kind = OptimizerKind::kSgd},
          .run = {.reduction = reduction}};
}

StepCalls calls_per_step(int replicas, ReductionKind reduction = ReductionKind::kInvariant) {
  const std::vector<int> order = by_slice(replicas);
  simulate({.ranks = replicas, .ranks_a_node = kRanksOfNode, .groups = {{0}, all(replicas), all(replicas), order}});
  const mpi::Communicator world(MPI_COMM_WORLD);
  const ProcessGrid grid(world, 1);
  const auto backend = emulation::make_emulated_backend();
  StatusBoard board;
  RankRuntime runtime(resnet50(replicas, reduction), grid, *backend, board);
  TrainingStep training(runtime);
  runtime.take_new_parameters();  // zeros: convolutions pack them
  test::FixedBatch batch(runtime, 5);
  StepCalls step;
  for (int i = 0; i < 2; ++i) {  // the first one also captures graphs
    calls() = {};
    training.run(batch, 0.1);
    runtime.finish();
  }
  const ArenaLayout& layout = runtime.stage().plan().layout;
  for (const Bucket& bucket : layout.buckets) step.num_values += bucket.count();
  step.num_buckets = std::ssize(layout.buckets);
  step.calls = calls();
  for (const auto& [receiver, traffic] : step.calls.sent) {
    Traffic& level = order[static_cast<std::size_t>(receiver)] < kRanksOfNode ? step.on_the_node : step.between_nodes;
    level.messages += traffic.messages;
    level.bytes += traffic.bytes;
  }
  return step;
}

std::string row(int replicas, const StepCalls& step) {
  const auto mib = [](const Traffic& traffic) { return static_cast<double>(traffic.bytes) / (1 << 20); };
  return fmt::format("| {:5} | {:5} | {:5} | {:5} | {:4} | {:6} | {:8.1f} | {:6} | {:8.1f} |\n", replicas,
                     step.calls.launches, step.calls.cuda, step.calls.nccl, step.calls.mpi, step.on_the_node.messages,
                     mib(step.on_the_node), step.between_nodes.messages, mib(step.between_nodes));
}

// The rounding of slices, in bytes: each replica's slice of each bucket is rounded up to 16 floats.
double rounding_of_slices(const StepCalls& step, int replicas) {
  return static_cast<double>(16 * kFloatBytes * step.num_buckets * replicas);
}

std::int64_t launches_and_calls(const StepCalls& step) {
  return step.calls.launches + step.calls.api_calls();
}

}  // namespace

TEST(Calls, OfAStepGrowWithTheLogarithmOfTheReplicas) {
  std::string table =
      "| GPUs  | launches | CUDA | NCCL | MPI | sent on the node | MiB | sent to other nodes | MiB |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  std::vector<StepCalls> steps;
  for (const int replicas : {1, 8, 64, 1024}) {
    steps.push_back(calls_per_step(replicas));
    table += row(replicas, steps.back());
  }
  fmt::print("{}", table);
  EXPECT_LE(launches_and_calls(steps[3]), 2 * launches_and_calls(steps[1]));
  EXPECT_EQ(steps[0].calls.nccl, 0);
}

// For N values, each replica sends N - N/R sums and as many parameters: 7/8 N of each in the first phase, on the node.
TEST(Calls, SendAllButTheOwnSliceMostOfItOnTheNode) {
  for (const int replicas : {8, 64, 1024}) {
    const StepCalls step = calls_per_step(replicas);
    const double both = 2.0 * static_cast<double>(step.num_values * kFloatBytes);
    const double own = 1.0 / replicas, on_the_node = 7.0 / 8;
    const double rounding = 2 * rounding_of_slices(step, replicas);
    EXPECT_NEAR(static_cast<double>(step.on_the_node.bytes), on_the_node * both, rounding) << replicas;
    EXPECT_NEAR(static_cast<double>(step.between_nodes.bytes), (1 - on_the_node - own) * both, rounding) << replicas;
  }
}

TEST(Calls, OfAFastReductionAreOnePerBucketHoweverManyReplicas) {
  for (const int replicas : {8, 1024}) {
    const StepCalls step = calls_per_step(replicas, ReductionKind::kFast);
    EXPECT_EQ(step.calls.reduce_scatters, step.num_buckets) << replicas;
    const StepCalls invariant = calls_per_step(replicas);
    const auto bytes = [](const StepCalls& of) {
      return static_cast<double>(of.on_the_node.bytes + of.between_nodes.bytes);
    };
    EXPECT_NEAR(bytes(step), bytes(invariant) / 2, rounding_of_slices(step, replicas)) << "parameters, " << replicas;
  }
}

}  // namespace counting

}  // namespace convoy
