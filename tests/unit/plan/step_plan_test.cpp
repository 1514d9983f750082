/// Tests that a plan gives every cell to one stage, in turns if stages have several chunks, and reports what does not
/// fit.
#include "plan/step_plan.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "unit/messages.h"

namespace convoy {
namespace {

RuntimeSpec spec_of(ScheduleKind schedule, std::int64_t chunks, std::int64_t micro_batches = 8) {
  return {.network = {.name = "resnet20", .input = ImageShape{8, 8, 3}, .micro_batch = 2, .num_classes = 10},
          .batch = {.global = 2 * micro_batches, .micro = 2},
          .schedule = schedule,
          .chunks = chunks,
          .run = {.bucket_mib = 0.05}};
}

std::string refusal_of(const RuntimeSpec& spec, const GridShape& grid) {
  return test::message_of<RequestError>([&] { StepPlan(spec, grid); });
}

TEST(StepPlan, ChunksAreRunsOfCellsAroundTheStages) {
  for (const auto& [stages, chunks] : {std::pair{2, 2}, {2, 5}, {3, 3}, {5, 2}, {4, 1}}) {
    const ScheduleKind kind = chunks > 1 ? ScheduleKind::kInterleaved : ScheduleKind::k1F1B;
    const StepPlan plan(spec_of(kind, chunks), {.stages = stages});
    const Schedule& schedule = plan.training_schedule(0);
    std::int64_t cell = 0;
    for (std::int64_t c = 0; c < chunks; ++c) {
      for (std::int64_t s = 0; s < stages; ++s) {
        const StagePlan& stage = plan.stages()[s];
        ASSERT_EQ(std::ssize(stage.chunks), chunks);
        const ChunkPlan& chunk = stage.chunks[c];
        EXPECT_EQ(chunk.cells.begin, cell);
        EXPECT_GT(chunk.cells.size(), 0);
        EXPECT_EQ(chunk.cells, stage.layout.runs[c].cells);
        EXPECT_EQ(chunk.is_first, c == 0 && s == 0);
        EXPECT_EQ(chunk.is_last, c == chunks - 1 && s == stages - 1);
        EXPECT_EQ(chunk.boundary_in_bytes > 0, !chunk.is_first);
        EXPECT_EQ(chunk.boundary_out_bytes > 0, !chunk.is_last);
        EXPECT_EQ(chunk.num_frames, std::max(plan.evaluation_frames(), max_in_flight(schedule[s], c)));
        const auto reduces = std::count_if(schedule[s].begin(), schedule[s].end(), [c](const Instruction& i) {
          return i.op == Op::kReduceBucket && i.chunk == c;
        });
        EXPECT_EQ(reduces, stage.layout.runs[c].num_buckets);
        cell = chunk.cells.end;
      }
    }
    EXPECT_EQ(cell, 11);
  }
}

TEST(StepPlan, OneStageHasOneChunk) {
  const StepPlan plan(spec_of(ScheduleKind::kInterleaved, 64), {.stages = 1, .replicas = 2});
  EXPECT_EQ(plan.num_chunks(), 1);
  ASSERT_EQ(plan.stages().front().chunks.size(), 1u);
  EXPECT_EQ(plan.stages().front().chunks.front().num_frames, 1) << "a micro-batch follows the other";
  EXPECT_EQ(plan.stages().front().chunks.front().cells, (CellRange{0, 11}));
}

TEST(StepPlan, OneStageHoldsOneMicroBatchByAnySchedule) {
  for (const ScheduleKind kind : all_schedules()) {
    const StepPlan plan(spec_of(kind, 1), {.stages = 1, .replicas = 2});
    EXPECT_EQ(max_in_flight(plan.training_schedule(0).front(), 0), 1);
    EXPECT_TRUE(plan.stages().front().chunks.front().weight_gradient_input_offsets.empty());
  }
}

TEST(StepPlan, ReplicasOfOneShareShareASchedule) {
  // The replicas have 2, 3 and 3 micro-batches.
  const StepPlan plan(spec_of(ScheduleKind::kInterleaved, 2, 8), {.stages = 2, .replicas = 3});
  EXPECT_EQ(&plan.training_schedule(1), &plan.training_schedule(2));
  EXPECT_NE(&plan.training_schedule(0), &plan.training_schedule(1));
  EXPECT_EQ(max_in_flight(plan.training_schedule(0).front(), 0), plan.micro_batches_of(0).size());
}

TEST(StepPlan, MoreChunksThanCellsAreRefused) {
  const std::string six = refusal_of(spec_of(ScheduleKind::kInterleaved, 6), {.stages = 2});
  EXPECT_EQ(six,
            "schedule.chunks = 6 on grid.stages = 2 cuts the network into 12 chunks, but it has 11 cells. Allowed: "
            "schedule.chunks = 2 to 5, or fewer grid.stages.");
  EXPECT_EQ(refusal_of(spec_of(ScheduleKind::kInterleaved, 5), {.stages = 2}), test::kNothingThrown);
  for (const std::int64_t stages : {6, 12})
    EXPECT_NE(refusal_of(spec_of(ScheduleKind::kInterleaved, 2), {.stages = stages})
                  .find("Allowed: fewer grid.stages, or another schedule.kind."),
              std::string::npos);
}

TEST(StepPlan, AMessageThatIsTooLongIsNamedByTheCellThatReceivesIt) {
  RuntimeSpec spec = spec_of(ScheduleKind::k1F1B, 1, 1);
  spec.cuts = {5};
  const std::string receiver = StepPlan(spec, {.stages = 2}).network()[5]->name();
  const std::int64_t micro = 1 << 22;  // a sample has at least 4 x 4 x 64 floats
  spec.batch = {.global = micro, .micro = micro};
  spec.network.micro_batch = micro;
  EXPECT_CONTAINS(refusal_of(spec, {.stages = 2}), " between stages, before cell " + receiver + ". A message holds");
}

TEST(StepPlan, ZeroBubbleAloneKeepsWhatBackwardByWeightNeeds) {
  for (const ScheduleKind kind : {ScheduleKind::k1F1B, ScheduleKind::kZeroBubble}) {
    const StepPlan plan(spec_of(kind, 1), {.stages = 2});
    for (const StagePlan& stage : plan.stages())
      EXPECT_EQ(stage.chunks.front().weight_gradient_input_offsets.empty(), kind != ScheduleKind::kZeroBubble);
  }
}

TEST(StepPlan, AnEvaluationIsCutAsATrainingAndTakesAFractionOfItsMemory) {
  for (const std::int64_t stages : {1, 2, 4}) {
    RuntimeSpec spec = spec_of(ScheduleKind::k1F1B, 1);
    spec.network.input = ImageShape{32, 32, 3};
    const StepPlan training(spec, {.stages = stages});
    spec.network.trains = false;
    const StepPlan evaluation(spec, {.stages = stages});
    for (std::int64_t s = 0; s < stages; ++s) {
      const StagePlan& stage = evaluation.stages()[s];
      EXPECT_EQ(stage.layout.runs[0].cells, training.stages()[s].layout.runs[0].cells);
      EXPECT_EQ(stage.layout.count, training.stages()[s].layout.count);
      EXPECT_EQ(stage.chunks[0].num_frames, evaluation.evaluation_frames());
      const StageMemory memory = evaluation.memory_of(s);
      EXPECT_EQ(memory.gradients, 0);
      EXPECT_EQ(memory.optimizer_state, 0);
      EXPECT_LT(3 * memory.total(), training.memory_of(s).total());
    }
  }
}

// The chunk's own input and output are in use longer: one may arrive and the other leave while cells compute in another
// frame.
TEST(StepPlan, AnEvaluationsFrameKeepsApartWhatIsInUseTogether) {
  for (const std::string name : {"resnet50", "convnext_atto"}) {
    RuntimeSpec spec = spec_of(ScheduleKind::k1F1B, 1);
    spec.network.name = name;
    spec.network.input = ImageShape{32, 32, 3};
    spec.network.trains = false;
    const StepPlan plan(spec, {.stages = 2});
    for (const StagePlan& stage : plan.stages()) {
      const ChunkPlan& chunk = stage.chunks.front();
      const Cell &first = *plan.network()[chunk.cells.begin], &last = *plan.network()[chunk.cells.end - 1];
      for (std::int64_t i = 0; i < chunk.cells.size(); ++i) {
        const Cell& cell = *plan.network()[chunk.cells.begin + i];
        std::vector<std::pair<std::int64_t, std::int64_t>> parts = {
            {chunk.x_offsets[i], cell.x().bytes()},
            {chunk.x_offsets[i + 1], cell.y().bytes()},
            {chunk.statistic_offsets[i], cell.memory().statistic_bytes()},
            {chunk.feature_offsets[i], cell.memory().feature_bytes()}};
        if (i > 0) parts.emplace_back(chunk.x_offsets.front(), first.x().bytes());
        if (i + 1 < chunk.cells.size()) parts.emplace_back(chunk.x_offsets.back(), last.y().bytes());
        std::ranges::sort(parts);
        std::int64_t end = 0;
        for (const auto& [offset, bytes] : parts) {
          EXPECT_TRUE(bytes == 0 || offset >= end) << name << ", " << cell.name();
          end = std::max(end, offset + bytes);
        }
        EXPECT_LE(end, chunk.frame_bytes);
      }
    }
  }
}

TEST(StepPlan, AnEvaluationThatDoesNotFitIsRefusedWithoutAWordOfRecomputing) {
  RuntimeSpec spec = spec_of(ScheduleKind::k1F1B, 1);
  spec.network.trains = false;
  spec.memory.limit_gib = 0.0001;
  const std::string refusal = refusal_of(spec, {.stages = 1});
  EXPECT_CONTAINS(refusal, "memory.limit_gib = 0.0001: cells stem .. head take ");
  EXPECT_CONTAINS(refusal,
                  " per rank. Allowed: memory.limit_gib = 0.01 and more, a smaller batch.micro, more grid.stages.");
  EXPECT_EQ(refusal.find("recompute"), std::string::npos);
}

TEST(StepPlan, NamesAMicroBatchThatDividesTheBatchAndGivesEachReplicaOne) {
  RuntimeSpec spec = spec_of(ScheduleKind::k1F1B, 1);
  const auto refusal = [&](std::int64_t global, std::int64_t micro, std::int64_t replicas) {
    spec.batch = {.global = global, .micro = micro};
    return refusal_of(spec, {.stages = 1, .replicas = replicas});
  };
  EXPECT_CONTAINS(refusal(64, 32, 3),
                  "into 2 micro-batches per step, fewer than the 3 replicas of this job. "
                  "Largest that fits: batch.micro = 16; or use more");
  EXPECT_CONTAINS(refusal(63, 63, 2), "Largest that fits: batch.micro = 21; ");
  EXPECT_CONTAINS(refusal(4, 2, 8), "No batch.micro gives that many: use batch.global = 16; or use more stages or ");
  spec.mixes_labels = true;  // needs a micro-batch of at least two images
  EXPECT_CONTAINS(refusal(6, 3, 4), "No batch.micro gives that many: use batch.global = 12");
  EXPECT_CONTAINS(refusal(3 * 65537, 1, 1), "Allowed: up to 65536, so batch.micro = 65537 or more that divides");
}

RuntimeSpec spec_of_target(TargetKind kind) {
  RuntimeSpec spec = spec_of(ScheduleKind::k1F1B, 1);
  spec.network.target = {.kind = kind, .shape = Shape::vectors(1, 10)};
  return spec;
}

TEST(StepPlan, TheLossFollowsTheTargetUnlessItIsGiven) {
  const auto loss_of = [](TargetKind kind, std::optional<LossKind> asked) {
    RuntimeSpec spec = spec_of_target(kind);
    spec.train.loss = asked;
    return StepPlan(spec, {}).loss();
  };
  EXPECT_EQ(loss_of(TargetKind::kClass, std::nullopt), LossKind::kCrossEntropy);
  EXPECT_EQ(loss_of(TargetKind::kLabels, std::nullopt), LossKind::kBinaryCrossEntropy);
  EXPECT_EQ(loss_of(TargetKind::kNumbers, std::nullopt), LossKind::kMse);
  for (const LossKind loss : {LossKind::kMse, LossKind::kMae, LossKind::kHuber})
    EXPECT_EQ(loss_of(TargetKind::kNumbers, loss), loss);
}

TEST(StepPlan, ALossOfAnotherTargetIsRefused) {
  const auto refusal = [](TargetKind kind, LossKind asked) {
    RuntimeSpec spec = spec_of_target(kind);
    spec.train.loss = asked;
    return refusal_of(spec, {});
  };
  EXPECT_EQ(refusal(TargetKind::kClass, LossKind::kMae),
            "train.loss = mae is for numbers, but the target of the data is a class. Allowed: auto, cross_entropy.");
  EXPECT_EQ(
      refusal(TargetKind::kNumbers, LossKind::kCrossEntropy),
      "train.loss = cross_entropy is for a class, but the target of the data is numbers. Allowed: auto, mse, mae, "
      "huber.");
  EXPECT_EQ(refusal(TargetKind::kLabels, LossKind::kHuber),
            "train.loss = huber is for numbers, but the target of the data is several labels. Allowed: auto, "
            "binary_cross_entropy.");
  RuntimeSpec smoothed = spec_of_target(TargetKind::kNumbers);
  smoothed.train.label_smoothing = 0.1;
  EXPECT_EQ(refusal_of(smoothed, {}),
            "train.label_smoothing = 0.1 is for a class, but the target of the data is numbers. Leave out "
            "train.label_smoothing.");
}

TEST(StepPlan, SettingsOfALossAreRefusedForANetworkThatComputesItsLossesItself) {
  RuntimeSpec bert = spec_of(ScheduleKind::k1F1B, 1);
  bert.network = {
      .name = "bert", .input = TextShape{.length = 16, .vocabulary = 20}, .micro_batch = 2, .num_classes = 9};
  EXPECT_EQ(refusal_of(bert, {}), test::kNothingThrown);
  RuntimeSpec changed = bert;
  changed.train.loss = LossKind::kCrossEntropy;
  EXPECT_EQ(refusal_of(changed, {}),
            "train.loss = cross_entropy is not possible: bert computes its losses itself (objectives). Leave out "
            "train.loss.");
  changed = bert;
  changed.train.label_smoothing = 0.1;
  EXPECT_CONTAINS(refusal_of(changed, {}), "bert computes its losses itself. Leave out train.label_smoothing.");
  changed = bert;
  changed.train.class_weights.balanced = true;
  EXPECT_CONTAINS(refusal_of(changed, {}), "bert computes its losses itself. Leave out train.class_weights.");
  changed = bert;
  changed.mixes_labels = true;
  EXPECT_EQ(refusal_of(changed, {}),
            "augment.mixup and augment.cutmix mix labels, which bert reads itself (objectives). Leave them out.");
}

TEST(StepPlan, AMetricThatTheNetworkDoesNotHaveIsRefusedWhereItTrains) {
  RuntimeSpec spec = spec_of(ScheduleKind::k1F1B, 1);
  spec.train.metric = MetricKind::kTop5;
  EXPECT_EQ(refusal_of(spec, {}), test::kNothingThrown);
  spec.network.num_classes = 5;
  EXPECT_EQ(refusal_of(spec, {}),
            "train.metric = top5 is not a metric of resnet20: it needs at least 6 classes, and the data has 5. "
            "Allowed: loss, top1, balanced_accuracy, macro_f1.");
  spec.network.trains = false;
  EXPECT_EQ(refusal_of(spec, {}), test::kNothingThrown);
  RuntimeSpec bert = spec_of(ScheduleKind::k1F1B, 1);
  bert.network = {
      .name = "bert", .input = TextShape{.length = 16, .vocabulary = 20}, .micro_batch = 2, .num_classes = 9};
  bert.train.metric = MetricKind::kMacroF1;
  EXPECT_EQ(refusal_of(bert, {}),
            "train.metric = macro_f1 is not a metric of bert: it measures the prediction of classes, and this network "
            "predicts none. Allowed: loss, top1.");
}

}  // namespace
}  // namespace convoy
