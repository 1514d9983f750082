/// Stages of several chunks at messages that no network stores for its receiver: the bits of one rank, in training and
/// in evaluation, with as many micro-batches as stages or not, and with replicas of unequal shares.
#include <cstring>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/ops/backend.h"

#include "checkpoint/checkpointing.h"
#include "parallel/fixed_batch.h"
#include "parallel/mpi_main.h"
#include "step/evaluation_step.h"
#include "unit/io/same_bits.h"

namespace convoy::test {

namespace {

constexpr std::uint64_t kSeed = 3;
constexpr std::int64_t kSteps = 2, kMicro = 4;

// Activations of 256 KiB to 1 MiB: beyond some KiB MPI sends once the receiver has asked.
RuntimeSpec spec_of(std::int64_t micro_batches, std::int64_t chunks) {
  return {.network = {.name = "resnet20", .input = ImageShape{64, 64, 3}, .micro_batch = kMicro, .num_classes = 10},
          .batch = {.global = micro_batches * kMicro, .micro = kMicro},
          .schedule = chunks > 1 ? ScheduleKind::kInterleaved : ScheduleKind::k1F1B,
          .chunks = chunks,
          .optimizer = {.kind = OptimizerKind::kLars},  // norms of whole tensors, and all updates after one agreement
          .train = {.clip_norm = 1},
          .run = {.bucket_mib = 0.125}};
}

struct Outcome {
  io::Checkpoint end;         ///< at the root
  std::vector<float> logits;  ///< at the root: of all samples of an evaluation after the last step
};

Outcome train(const mpi::Communicator& ranks, std::int64_t stages, const RuntimeSpec& spec) {
  const ProcessGrid grid(ranks, stages);
  const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  StatusBoard board;
  RankRuntime runtime(spec, grid, *backend, board);
  TrainingStep training(runtime);
  EvaluationStep evaluation(runtime);
  EXPECT_EQ(runtime.stage().plan().chunks.size(), static_cast<std::size_t>(spec.chunks));
  initialise_parameters({.seed = kSeed}, runtime);
  evaluation.keep_logits();
  FixedBatch batch(runtime, kSeed);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    training.run(batch, 0.5);
    evaluation.run(batch);  // steps of both kinds in turn share the frames
  }
  runtime.finish();
  const auto bytes = ranks.gather(std::as_bytes(evaluation.logits()), 0);  // last stages, by replica
  Outcome outcome{.end = gather_checkpoint(training), .logits = std::vector<float>(bytes.size() / sizeof(float))};
  if (!bytes.empty()) std::memcpy(outcome.logits.data(), bytes.data(), bytes.size());
  return outcome;
}

}  // namespace

TEST(Interleaved, ChunksGiveTheBitsOfOneRankInTrainingAndEvaluation) {
  const std::int64_t stages = world().size();
  for (const std::int64_t micro_batches : {stages, stages + 1, 2 * stages + 1}) {
    const auto one =
        on_rank_0_alone([&](const mpi::Communicator& alone) { return train(alone, 1, spec_of(micro_batches, 1)); });
    for (std::int64_t chunks = 2; stages * chunks <= 11; ++chunks) {
      SCOPED_TRACE(fmt::format("{} stages of {} chunks, {} micro-batches", stages, chunks, micro_batches));
      const Outcome many = train(world(), stages, spec_of(micro_batches, chunks));
      if (!one) continue;
      expect_same_bits(many.end.model, one->end.model);
      expect_same_bits(many.end.optimizer.at("momentum"), one->end.optimizer.at("momentum"));
      EXPECT_EQ(many.logits, one->logits);
    }
  }
}

// Replicas' lists differ, and the exchanges of their buckets stand between messages of the pipeline.
TEST(Interleaved, ReplicasOfUnequalSharesDoNotWaitForEachOther) {
  if (world().size() != 4) GTEST_SKIP() << "2 stages x 2 replicas";
  for (const std::int64_t micro_batches : {3, 5, 7, 9}) {
    RuntimeSpec chunked = spec_of(micro_batches, 3), whole = spec_of(micro_batches, 1);
    for (RuntimeSpec* spec : {&chunked, &whole}) spec->optimizer.kind = OptimizerKind::kSgd, spec->train.clip_norm = 0;
    const Outcome many = train(world(), 2, chunked), few = train(world(), 2, whole);
    if (world().rank() != 0) continue;
    SCOPED_TRACE(fmt::format("{} micro-batches", micro_batches));
    expect_same_bits(many.end.model, few.end.model);
    EXPECT_EQ(many.logits, few.logits);
  }
}

}  // namespace convoy::test
