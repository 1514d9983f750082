/// Stages of several chunks at messages that no network stores for its receiver: the bits of one rank, in training and
/// in evaluation, with as many micro-batches as stages or not, and with replicas of unequal shares.
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convoy/base/random.h"
#include "convoy/ops/library.h"

#include "parallel/mpi_main.h"
#include "train/checkpointing.h"

namespace convoy::test {

namespace {

constexpr std::uint64_t kSeed = 3;
constexpr std::int64_t kSteps = 2, kMicro = 4;

// Activations of 256 KiB to 1 MiB: beyond some KiB MPI sends once the receiver has asked.
EngineSpec spec_of(std::int64_t micro_batches, std::int64_t chunks) {
  return {.network = {.name = "resnet20", .image = {64, 64, 3}, .micro_batch = kMicro, .num_classes = 10},
          .batch = {.global = micro_batches * kMicro, .micro = kMicro},
          .schedule = chunks > 1 ? ScheduleKind::kInterleaved : ScheduleKind::k1F1B,
          .chunks = chunks,
          .optimizer = {.kind = OptimizerKind::kLars},  // norms of whole tensors, and all updates after one agreement
          .bucket_mib = 0.125,
          .clip_norm = 1};
}

/// Images and labels by their place in the step.
class FixedBatch final : public BatchSource {
 public:
  explicit FixedBatch(const Engine& engine) : engine_(engine), spec_(engine.plan().spec()) {}

  void load_images(std::int64_t micro_batch, void* x) override {
    const RandomKey key{.seed = kSeed, .item = static_cast<std::uint64_t>(place_of(micro_batch))};
    auto* values = static_cast<float*>(x);
    for (std::int64_t i = 0; i < kMicro * spec_.network.image.count(); ++i)
      values[i] = static_cast<float>(random_normal(key, static_cast<std::uint64_t>(i)));
  }
  void load_labels(std::int64_t micro_batch, std::int32_t* labels, ops::SecondLabel*) override {
    for (std::int64_t i = 0; i < kMicro; ++i)
      labels[i] = static_cast<std::int32_t>((place_of(micro_batch) * kMicro + i) * 7 % spec_.network.num_classes);
  }

 private:
  std::int64_t place_of(std::int64_t micro_batch) const { return engine_.micro_batches().begin + micro_batch; }

  const Engine& engine_;
  EngineSpec spec_;
};

struct Outcome {
  io::Checkpoint end;         ///< at the root
  std::vector<float> logits;  ///< likewise, of all samples of an evaluation after the last step
};

Outcome train(const mpi::Communicator& ranks, std::int64_t stages, const EngineSpec& spec) {
  const ProcessGrid grid(ranks, stages);
  const auto library = ops::make_library({.device = DeviceKind::kCpu, .threads = 1});
  Engine engine(spec, grid, *library);
  EXPECT_EQ(engine.stage().plan().chunks.size(), static_cast<std::size_t>(spec.chunks));
  initialise_parameters({.seed = kSeed}, engine);
  engine.keep_logits();
  FixedBatch batch(engine);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    engine.train_step(batch, 0.5);
    engine.evaluate_step(batch);  // steps of both kinds in turn share the frames
  }
  engine.finish();
  const auto bytes = ranks.gather(std::as_bytes(engine.logits()), 0);  // last stages, by replica
  Outcome outcome{.end = gather_checkpoint(engine), .logits = std::vector<float>(bytes.size() / sizeof(float))};
  if (!bytes.empty()) std::memcpy(outcome.logits.data(), bytes.data(), bytes.size());
  return outcome;
}

// Every rank by itself could; one is enough.
std::optional<Outcome> train_on_one_rank(const EngineSpec& spec) {
  const mpi::Communicator alone = world().split(world().rank(), 0);  // all ranks of the world
  if (world().rank() != 0) return std::nullopt;
  return train(alone, 1, spec);
}

void expect_same_bits(const std::vector<io::NamedTensor>& got, const std::vector<io::NamedTensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i].name, want[i].name);
    ASSERT_EQ(got[i].values.size(), want[i].values.size());
    EXPECT_EQ(std::memcmp(got[i].values.data(), want[i].values.data(), want[i].values.size() * sizeof(float)), 0)
        << want[i].name;
  }
}

}  // namespace

TEST(Interleaved, ChunksGiveTheBitsOfOneRankInTrainingAndEvaluation) {
  const std::int64_t stages = world().size();
  for (const std::int64_t micro_batches : {stages, stages + 1, 2 * stages + 1}) {
    const auto one = train_on_one_rank(spec_of(micro_batches, 1));
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
    EngineSpec chunked = spec_of(micro_batches, 3), whole = spec_of(micro_batches, 1);
    for (EngineSpec* spec : {&chunked, &whole}) spec->optimizer.kind = OptimizerKind::kSgd, spec->clip_norm = 0;
    const Outcome many = train(world(), 2, chunked), few = train(world(), 2, whole);
    if (world().rank() != 0) continue;
    SCOPED_TRACE(fmt::format("{} micro-batches", micro_batches));
    expect_same_bits(many.end.model, few.end.model);
    EXPECT_EQ(many.logits, few.logits);
  }
}

}  // namespace convoy::test
