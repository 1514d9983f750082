/// One bit that changes in a rank's memory keeps the step from being applied, and names that rank; steps without one
/// are what they are without an audit.
#include "audit/audit.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/comm/process_grid.h"
#include "convoy/model/network_file.h"
#include "convoy/ops/backend.h"

#include "checkpoint/checkpointing.h"
#include "checkpoint/model_fingerprint.h"
#include "parallel/fixed_batch.h"
#include "parallel/mpi_main.h"
#include "parallel/storage_ways.h"
#include "step/training_step.h"

namespace convoy::test {

namespace {

constexpr std::uint64_t kSeed = 5;

struct Case {
  std::int64_t stages = 1;
  ScheduleKind schedule = ScheduleKind::k1F1B;
  DataType type = DataType::kFloat32;
  OptimizerKind optimizer = OptimizerKind::kSgd;
  RecomputeKind recompute = RecomputeKind::kNone;
  ReductionKind reduction = ReductionKind::kInvariant;
  std::int64_t micro_batches = 8;  ///< per step
  std::vector<std::string> freeze = {};
  bool is_text = false;  ///< a Transformer with dropout
  std::unique_ptr<ops::Backend> (*make_backend)() = make_cpu_backend;

  std::string name() const {
    return fmt::format("{} stages, {}, {}, {}, {} micro-batches, {} frozen{}", stages, name_of(schedule),
                       to_string(type), name_of(optimizer), micro_batches, freeze.size(), is_text ? ", text" : "");
  }
};

NetworkSpec network_of(const Case& options) {
  NetworkSpec network{.name = "resnet20",
                      .input = ImageShape{8, 8, 3},
                      .micro_batch = 2,
                      .num_classes = 10,
                      .type = options.type,
                      .freeze = options.freeze};
  if (!options.is_text) return network;
  network.name = "transformer";
  network.input = TextShape{.length = 8, .vocabulary = 30};
  network.settings = network_settings({.layers = 6, .heads = 2, .width = 32, .feedforward = 48, .dropout = 0.2});
  return network;
}

RuntimeSpec spec_of(const Case& options, std::int64_t audit_every) {
  return {.network = network_of(options),
          .batch = {.global = 2 * options.micro_batches, .micro = 2},
          .schedule = options.schedule,
          .chunks = options.schedule == ScheduleKind::kInterleaved ? 2 : 1,
          .memory = {.recompute = options.recompute},
          .optimizer = {.kind = options.optimizer},
          .train = {.clip_norm = 1, .ema_decay = 0.9},
          .run = {.reduction = options.reduction, .bucket_mib = 0.1, .audit_every = audit_every},
          .checks_numbers = true};
}

/// Returns the cases for each number of stages that divides the ranks.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::int64_t stages : divisors(world().size())) {
    all.push_back({.stages = stages});
    all.push_back({.stages = stages, .type = DataType::kBfloat16, .optimizer = OptimizerKind::kAdam});
    all.push_back({.stages = stages, .schedule = ScheduleKind::kZeroBubble, .recompute = RecomputeKind::kCell});
    if (stages > 1) all.push_back({.stages = stages, .schedule = ScheduleKind::kInterleaved});
  }
  return all;
}

/// What else could make sound ranks differ.
std::vector<Case> peculiar_cases() {
  std::vector<Case> all;
  for (const std::int64_t stages : divisors(world().size())) {
    const std::int64_t replicas = world().size() / stages;
    all.push_back({.stages = stages, .optimizer = OptimizerKind::kLamb, .is_text = true});
    all.push_back({.stages = stages,
                   .optimizer = OptimizerKind::kLars,
                   .micro_batches = replicas,
                   .freeze = {"conv1.weight", "bn1.*", "layer1.*", "layer2.0.conv2.weight"}});
    all.push_back({.stages = stages, .reduction = ReductionKind::kFast, .micro_batches = 2 * replicas + 1});
    all.push_back({.stages = stages,
                   .type = DataType::kFloat16,
                   .micro_batches = 2 * replicas,
                   .make_backend = emulation::make_emulated_backend});
  }
  return all;
}

/// A training of which every `audit_every`-th step is checked.
struct Training {
  explicit Training(const Case& options, std::int64_t audit_every = 1)
      : grid(world(), options.stages),
        backend(options.make_backend()),
        runtime(spec_of(options, audit_every), grid, *backend, board),
        training(runtime),
        batch(runtime, kSeed),
        audit(training, [this](std::int64_t, std::int64_t number) {
          return std::make_unique<FixedBatch>(runtime, kSeed, number);
        }) {
    initialise_parameters({.seed = kSeed}, runtime);
  }
  StepOutcome step() {
    if (const std::int64_t number = training.counts().steps + 1; audit.is_due(number)) audit.begin(number);
    return training.run(batch, 0.05);
  }

  ProcessGrid grid;
  std::unique_ptr<ops::Backend> backend;
  StatusBoard board;
  RankRuntime runtime;
  TrainingStep training;
  FixedBatch batch;
  Audit audit;
};

enum class Target { kParameters, kCopies, kOptimizer, kAverage, kFrame, kOutputGradient, kInputGradient };
constexpr std::uint64_t kNumTargets = 7;

/// Which bit changes, where and when: all ranks draw the same.
struct Flip {
  Target target = Target::kParameters;
  std::int64_t rank = 0;
  std::uint64_t moment = 0;  ///< of those instructions of the step after which the target can change
  std::uint64_t bit = 0;     ///< of the target's

  std::string name() const {
    return fmt::format("rank {}, target {}, moment {}, bit {}", rank, static_cast<int>(target), moment, bit);
  }
};

/// Flips the bit once in the next step, on its rank.
class Flipper {
 public:
  /// `micro_batch` of the replica is the one that is checked.
  Flipper(TrainingStep& training, const Flip& flip, std::int64_t micro_batch)
      : training_(training), runtime_(training.runtime()), flip_(flip), program_(bind_program(training.program())) {
    std::vector<std::size_t> moments;
    for (std::size_t i = 0; i < program_.actions.size(); ++i)
      if (can_change_after(program_.actions[i].instruction, micro_batch)) moments.push_back(i);
    if (world().rank() != flip.rank || moments.empty()) return;
    moment_ = moments[flip.moment % moments.size()];
    runtime_.set_beside([this] {
      if (num_done_++ == moment_) flip_now();
    });
  }
  ~Flipper() { runtime_.set_beside({}); }
  Flipper(const Flipper&) = delete;
  Flipper& operator=(const Flipper&) = delete;

 private:
  // What is kept from step to step, at any time before the update; a frame from the first to the last instruction that
  // knows of its micro-batch; gradients between the message and the backward.
  bool can_change_after(const Instruction& i, std::int64_t micro_batch) const {
    switch (flip_.target) {
      case Target::kFrame:
        return i.micro_batch == micro_batch && !is_of_update(i.op);
      case Target::kOutputGradient:
        return i.micro_batch == micro_batch && i.op == Op::kRecvGradient;
      case Target::kInputGradient:
        return i.micro_batch == micro_batch && (i.op == Op::kBackward || i.op == Op::kBackwardInput) &&
               !runtime_.stage().plan().chunks[i.chunk].is_first && i.bucket <= 0;
      default:
        return !is_of_update(i.op);
    }
  }

  void flip_now() const {
    const Stage& stage = runtime_.stage();
    const StagePlan& plan = stage.plan();
    const ParameterArenas parameters = stage.parameters();
    const std::int64_t count = plan.layout.count, shard_bytes = training_.update().shard_count() * kFloatBytes;
    const Action& action = program_.actions[moment_];
    const std::int64_t chunk = action.instruction.chunk;
    switch (flip_.target) {
      case Target::kParameters:
        return flip_in(parameters.masters, count * kFloatBytes);
      case Target::kCopies:
        return flip_in(parameters.copies, parameters.copies == nullptr ? 0 : count * size_of(parameters.type));
      case Target::kOptimizer:
        return flip_in(training_.update().states().front(), shard_bytes);
      case Target::kAverage:
        return flip_in(training_.update().ema(), shard_bytes);
      case Target::kFrame:
        return flip_in(
            static_cast<std::byte*>(stage.input({chunk, action.frame})) - plan.chunks[chunk].x_offsets.front(),
            plan.chunks[chunk].frame_bytes);
      case Target::kOutputGradient:
        return flip_in(stage.gradient_in(chunk, action.gradient_in), plan.chunks[chunk].boundary_out_bytes);
      case Target::kInputGradient:
        return flip_in(stage.gradient_out(chunk, action.gradient_out), plan.chunks[chunk].boundary_in_bytes);
    }
  }

  void flip_in(void* data, std::int64_t size_bytes) const {
    if (size_bytes == 0) return;
    const std::uint64_t bit = flip_.bit % static_cast<std::uint64_t>(8 * size_bytes);
    static_cast<std::uint8_t*>(data)[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
  }

  TrainingStep& training_;
  RankRuntime& runtime_;
  Flip flip_;
  BoundProgram program_;
  std::size_t moment_ = 0, num_done_ = 0;
};

/// All that a rank keeps from step to step, to go back to.
class Memory {
 public:
  explicit Memory(TrainingStep& training)
      : training_(training), runtime_(training.runtime()), counts_(training.counts()) {
    for (const auto& [data, size_bytes] : parts()) copies_.emplace_back(data, data + size_bytes);
  }
  void restore() const {
    const auto all = parts();
    for (std::size_t i = 0; i < all.size(); ++i) std::ranges::copy(copies_[i], all[i].first);
    training_.set_counts(counts_);
    runtime_.stage().reload_weights();
  }
  /// Whether any rank's is another than that of `other`. All ranks.
  bool differs(const Memory& other) const { return world().max(copies_ == other.copies_ ? 0 : 1) != 0; }

 private:
  std::vector<std::pair<std::byte*, std::int64_t>> parts() const {
    const std::int64_t shard_bytes = training_.update().shard_count() * kFloatBytes;
    const ParameterArenas parameters = runtime_.stage().parameters();
    const std::int64_t count = runtime_.stage().plan().layout.count;
    std::vector<std::pair<std::byte*, std::int64_t>> all = {
        {reinterpret_cast<std::byte*>(parameters.masters), count * kFloatBytes},
        {reinterpret_cast<std::byte*>(training_.update().ema()), shard_bytes}};
    for (float* state : training_.update().states()) all.emplace_back(reinterpret_cast<std::byte*>(state), shard_bytes);
    return all;
  }

  TrainingStep& training_;
  RankRuntime& runtime_;
  TrainingStep::Counts counts_;
  std::vector<std::vector<std::byte>> copies_;
};

/// Trains a step from the same state again and again, with a flipped bit and without, with an audit and without.
class Trials {
 public:
  explicit Trials(const Case& options) : audited_(options), plain_(options, 0) {
    for (Training* training : {&audited_, &plain_}) training->step();
    start_.emplace(plain_.training);
    audited_start_.emplace(audited_.training);
    plain_.step();
    clean_.emplace(plain_.training);
  }
  ~Trials() {
    for (Training* training : {&audited_, &plain_}) training->runtime.finish();
  }
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  struct Seen {
    bool changes_anything = false;
    StepOutcome outcome = StepOutcome::kApplied;
    std::vector<AuditFinding> findings;  ///< on rank 0
  };
  Seen run(const Flip& flip) {
    Seen seen;
    audited_.runtime.finish();
    audited_start_->restore();
    audited_.audit.begin(audited_.training.counts().steps + 1);
    const std::int64_t micro_batch = audited_.audit.micro_batch();
    {
      const Flipper flipper(audited_.training, flip, micro_batch);
      seen.outcome = audited_.training.run(audited_.batch, 0.05);
    }
    if (seen.outcome == StepOutcome::kWrong) seen.findings = audited_.audit.settle().findings;
    plain_.runtime.finish();
    start_->restore();
    {
      const Flipper flipper(plain_.training, flip, micro_batch);
      plain_.training.run(plain_.batch, 0.05);
    }
    plain_.runtime.finish();
    seen.changes_anything = Memory(plain_.training).differs(*clean_);
    return seen;
  }

 private:
  Training audited_, plain_;
  std::optional<Memory> start_, audited_start_, clean_;
};

}  // namespace

TEST(Audit, OfStepsWithoutAFaultFindsNothingAndChangesNothing) {
  for (const Case& options : cases()) {
    SCOPED_TRACE(options.name());
    Training audited(options), plain(options, 0);
    for (int step = 0; step < 3; ++step) {
      EXPECT_EQ(audited.step(), StepOutcome::kApplied);
      EXPECT_EQ(plain.step(), StepOutcome::kApplied);
    }
    EXPECT_EQ(model_fingerprint(audited.runtime), model_fingerprint(plain.runtime));
    audited.runtime.finish();
    plain.runtime.finish();
  }
}

TEST(Audit, OfSoundRanksFindsNothingWhateverElseTheyDo) {
  for (const Case& options : peculiar_cases()) {
    SCOPED_TRACE(options.name());
    Training audited(options);
    for (int step = 0; step < 3; ++step) {
      EXPECT_NE(audited.step(), StepOutcome::kWrong) << step;
      for (int swap = 0; swap < 2; ++swap) audited.training.swap_ema();  // as an evaluation of the average does
    }
    audited.runtime.finish();
  }
}

TEST(Audit, NamesTheRankInWhoseMemoryABitHasFlipped) {
  constexpr std::uint64_t kTrials = 14;  // of each case: two of each target
  std::mt19937_64 draw(7);
  std::int64_t num_named = 0, num_changing = 0;
  for (const Case& options : cases()) {
    Trials trials(options);
    for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
      const Flip flip{.target = static_cast<Target>(trial % kNumTargets),
                      .rank = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(world().size())),
                      .moment = draw(),
                      .bit = draw()};
      SCOPED_TRACE(options.name() + "; " + flip.name());
      const Trials::Seen seen = trials.run(flip);
      num_changing += seen.changes_anything ? 1 : 0;
      EXPECT_TRUE(!seen.changes_anything || seen.outcome == StepOutcome::kWrong);
      if (seen.outcome != StepOutcome::kWrong || world().rank() != 0) continue;
      ++num_named;
      ASSERT_EQ(std::ssize(seen.findings), 1);
      const AuditFinding& finding = seen.findings.front();
      EXPECT_EQ(finding.replica * options.stages + finding.stage, flip.rank);
      EXPECT_TRUE(finding.is_certain);
    }
  }
  if (world().rank() != 0) return;
  EXPECT_GT(num_changing, 0);
  fmt::print("{} flipped bits, {} changed a gradient or what is kept, {} were found\n", std::ssize(cases()) * kTrials,
             num_changing, num_named);
}

}  // namespace convoy::test
