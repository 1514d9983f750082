/// Replicas that only evaluate read one copy of their weights, where the system allows it, and compute the same.
#include "step/shared_weights.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "checkpoint/checkpointing.h"
#include "parallel/fixed_batch.h"
#include "parallel/mpi_main.h"
#include "parallel/storage_ways.h"
#include "parallel/system_limit.h"
#include "step/evaluation_step.h"

namespace convoy::test {

namespace {

constexpr std::uint64_t kSeed = 3;
constexpr std::int64_t kMicro = 2;

/// With convolutions in layouts of oneDNN's and with transformed filters.
RuntimeSpec spec_of(DataType type) {
  RuntimeSpec spec{.network = {.name = "resnet20", .input = ImageShape{12, 12, 3}},
                   .batch = {.global = 4 * kMicro, .micro = kMicro}};
  spec.network.micro_batch = kMicro;
  spec.network.num_classes = 10;
  spec.network.type = type;
  spec.network.trains = false;
  return spec;
}

std::unique_ptr<ops::Backend> make_backend(std::int64_t threads) {
  return ops::make_backend({.device = DeviceKind::kCpu, .threads = threads});
}

/// A replica each rank of `ranks`.
class Evaluation {
 public:
  Evaluation(const mpi::Communicator& ranks, DataType type, std::int64_t threads)
      : grid_(ranks, 1), backend_(make_backend(threads)), runtime_(spec_of(type), grid_, *backend_, board_) {}

  void load() { initialise_parameters({.seed = kSeed}, runtime_); }
  RankRuntime& runtime() { return runtime_; }
  std::vector<Buffer*> packed() {
    std::vector<Buffer*> all;
    for (const Cell* cell : runtime_.stage().cells())
      for (Buffer* buffer : cell->packed_weights()) all.push_back(buffer);
    return all;
  }
  /// Returns the logits of all replicas, at rank 0.
  std::vector<std::byte> logits() {
    FixedBatch batch(runtime_, kSeed);
    evaluation_.keep_logits();
    evaluation_.run(batch);
    runtime_.finish();
    return grid_.world().gather(std::as_bytes(evaluation_.logits()), 0);
  }

 private:
  ProcessGrid grid_;
  std::unique_ptr<ops::Backend> backend_;
  StatusBoard board_;
  RankRuntime runtime_;
  EvaluationStep evaluation_{runtime_};
};

// All ranks.
void expect_logits_of_one_rank(Evaluation& evaluation, DataType type) {
  Evaluation alone(world().split(world().rank(), 0), type, 1);
  alone.load();
  const std::vector<std::byte> expected = alone.logits(), logits = evaluation.logits();
  if (world().rank() > 0) return;
  EXPECT_EQ(logits, expected);
}

// How many of the memory's ranges change for this rank when rank 0 changes the first byte of each. All ranks.
template <typename Ranges>
std::int64_t count_changed_by_rank_0(const Ranges& ranges) {
  std::vector<std::byte> before;
  for (const std::span<std::byte> range : ranges) before.push_back(range.front());
  world().barrier();
  if (world().rank() == 0)
    for (const std::span<std::byte> range : ranges) range.front() ^= std::byte{1};
  world().barrier();
  std::int64_t changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) changed += ranges[i].front() != before[i] ? 1 : 0;
  return changed;
}

bool are_in_one_domain() {
  return split_by_memory(world()).size() == world().size();
}

class SharedWeightsTest : public testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(In, SharedWeightsTest, testing::Values(DataType::kFloat32, DataType::kBfloat16));

TEST_P(SharedWeightsTest, LieInMemoryOnce) {
  if (!are_in_one_domain()) GTEST_SKIP() << "the ranks are in several NUMA domains";
  Evaluation evaluation(world(), GetParam(), 1);
  evaluation.load();
  const ParameterArenas arenas = evaluation.runtime().stage().parameters();
  std::vector<std::span<std::byte>> ranges = {{reinterpret_cast<std::byte*>(arenas.masters), 1}};
  if (GetParam() != DataType::kFloat32) ranges.emplace_back(static_cast<std::byte*>(arenas.copies), 1);
  const std::vector<Buffer*> packed = evaluation.packed();
  EXPECT_GE(packed.size(), 10U);  // resnet20 has 19 convolutions; layouts with padding are not shared
  for (const Buffer* buffer : packed) ranges.emplace_back(buffer->data(), 1);
  EXPECT_EQ(count_changed_by_rank_0(ranges), std::ssize(ranges));
  EXPECT_EQ(evaluation.runtime().writes_parameters(), world().rank() == 0);
  const std::string said = evaluation.runtime().shared_weights()->describe();
  EXPECT_EQ(said,
            world().size() == 1 ? "" : fmt::format("weights: one copy in memory for {} replicas\n", world().size()));
}

TEST_P(SharedWeightsTest, GiveTheBitsOfOneRank) {
  Evaluation evaluation(world(), GetParam(), 1);
  evaluation.load();
  expect_logits_of_one_rank(evaluation, GetParam());
}

TEST_P(SharedWeightsTest, GiveThemWhereReplicasHaveOtherNumbersOfThreads) {
  Evaluation evaluation(world(), GetParam(), 1 + world().rank() % 3);
  evaluation.load();
  expect_logits_of_one_rank(evaluation, GetParam());
}

TEST_P(SharedWeightsTest, GiveThemFromACopyEachWhereTheSystemRefuses) {
  std::optional<Evaluation> evaluation;
  {
    const SystemLimit limit = SystemLimit::no_growing_files();
    evaluation.emplace(world(), GetParam(), 1);
    evaluation->load();
  }
  expect_logits_of_one_rank(*evaluation, GetParam());
  EXPECT_EQ(evaluation->runtime().shared_weights()->describe(), "");
  const std::int64_t changed = count_changed_by_rank_0(std::vector<std::span<std::byte>>{
      {reinterpret_cast<std::byte*>(evaluation->runtime().stage().parameters().masters), 1}});
  EXPECT_EQ(changed, world().rank() == 0 ? 1 : 0);
}

TEST_P(SharedWeightsTest, GiveThemWhereItRefusesMemoryForConvolutions) {
  Evaluation evaluation(world(), GetParam(), 1);
  {
    const SystemLimit limit = SystemLimit::no_growing_files();
    evaluation.load();
  }
  expect_logits_of_one_rank(evaluation, GetParam());
  std::vector<std::span<std::byte>> ranges;
  for (const Buffer* buffer : evaluation.packed()) ranges.emplace_back(buffer->data(), 1);
  EXPECT_EQ(count_changed_by_rank_0(ranges), world().rank() == 0 ? std::ssize(ranges) : 0);
}

TEST(SharedWeights, AreLoadedOnce) {
  Evaluation evaluation(world(), DataType::kFloat32, 1);
  evaluation.load();
  EXPECT_THROW(evaluation.runtime().take_new_parameters(), std::logic_error);
}

TEST(SharedWeights, OfAGpuAreItsOwn) {
  const ProcessGrid grid(world(), 1);
  EXPECT_EQ(find_weight_sharers(grid, emulation::make_emulated_backend()->device()).size(), 1);
}

}  // namespace

}  // namespace convoy::test
