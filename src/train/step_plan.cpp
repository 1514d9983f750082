/// From a parameter file and a grid to stages, schedules and memory.
#include "train/step_plan.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/params/names.h"

#include "train/loss_scale.h"
#include "train/optimizer.h"
#include "train/recompute.h"
#include "train/share_plans.h"

namespace convoy {

DataType storage_type(PrecisionKind precision) {
  switch (precision) {
    case PrecisionKind::kBf16:
      return DataType::kBfloat16;
    case PrecisionKind::kFp16:
      return DataType::kFloat16;
    default:
      return DataType::kFloat32;
  }
}

EngineSpec engine_spec(const Parameters& params, const io::ModelCard& card) {
  return {.network = {.name = card.name,
                      .image = card.image,
                      .micro_batch = params.batch.micro,
                      .num_classes = std::ssize(card.class_names),
                      .type = storage_type(params.train.precision),
                      .freeze = params.train.freeze},
          .batch = params.batch,
          .schedule = params.schedule.kind,
          .memory = params.memory,
          .optimizer = params.optimizer,
          .reduction = params.run.reduction,
          .bucket_mib = params.run.bucket_mib,
          .label_smoothing = params.train.label_smoothing,
          .mixes_labels = params.augment.mixup > 0,
          .clip_norm = params.train.clip_norm,
          .ema_decay = params.train.ema_decay,
          .plans_file = plans_path(params.run)};
}

namespace {

// Beyond this a plan itself would take minutes and its list gigabytes.
constexpr std::int64_t kMostMicroBatches = 65'536;

// What MPI can count in one message.
constexpr std::int64_t kMostMessageBytes = std::numeric_limits<int>::max();

void check_micro_batches(const BatchParams& batch, const GridShape& grid) {
  const std::int64_t micro_batches = batch.global / batch.micro;
  if (micro_batches < grid.replicas)
    refuse(
        "batch.micro = {} cuts batch.global = {} into {} micro-batches a step, fewer than the {} replicas of this job. "
        "Allowed here: batch.micro up to {}; or use more stages or fewer ranks.",
        batch.micro, batch.global, micro_batches, grid.replicas,
        std::max<std::int64_t>(1, batch.global / grid.replicas));
  if (micro_batches > kMostMicroBatches)
    refuse(
        "batch.micro = {} cuts batch.global = {} into {} micro-batches a step. Allowed: up to {}, so batch.micro = {} "
        "or "
        "more.",
        batch.micro, batch.global, micro_batches, kMostMicroBatches,
        (batch.global + kMostMicroBatches - 1) / kMostMicroBatches);
}

// Until the executor has several chunks a stage.
void check_schedule(ScheduleKind kind) {
  if (kind == ScheduleKind::kInterleaved)
    refuse("schedule.kind = {} cannot be executed yet. Allowed here: naive, gpipe, 1f1b, zero_bubble.", name_of(kind));
}

void check_message(const Network& network, const StagePlan& stage, std::int64_t batch_micro) {
  const std::int64_t bytes = std::max(stage.boundary_in_bytes, stage.boundary_out_bytes);
  if (bytes > kMostMessageBytes)
    refuse(
        "batch.micro = {} makes activations of {} between stages, at {}. A message holds at most 2 GiB: use "
        "batch.micro = "
        "{} or less.",
        batch_micro, human_bytes(bytes), network[stage.layout.cells.begin]->name(),
        batch_micro * kMostMessageBytes / bytes);
}

}  // namespace

StepPlan::StepPlan(const EngineSpec& spec, const GridShape& grid)
    : spec_(spec), grid_(grid), network_(make_network(spec.network)) {
  check_schedule(spec.schedule);
  check_micro_batches(spec.batch, grid);
  const bool splits_backward = spec.schedule == ScheduleKind::kZeroBubble;
  const auto bucket_floats = static_cast<std::int64_t>(spec.bucket_mib * 1024 * 1024 / sizeof(float));
  for (const CellRange& cells : partition(model_cell_seconds(network_), grid.stages))
    stages_.push_back(
        plan_stage(network_, {.cells = cells, .bucket_floats = bucket_floats, .splits_backward = splits_backward}));
  for (const StagePlan& stage : stages_) check_message(network_, stage, spec.batch.micro);
  for (std::int64_t replica = 0; replica < grid.replicas; ++replica) {
    const Schedule schedule = training_schedule(replica);
    for (std::size_t s = 0; s < stages_.size(); ++s)
      stages_[s].num_frames = std::max({stages_[s].num_frames, kEvaluationFrames, max_in_flight(schedule[s])});
  }
  for (StagePlan& stage : stages_) {
    StagePlanSpec within{.cells = stage.layout.cells,
                         .bucket_floats = bucket_floats,
                         .num_frames = stage.num_frames,
                         .recomputed = {},
                         .splits_backward = splits_backward};
    within.recomputed = choose_recomputed(network_, within, stage_use(), spec.memory);
    stage = plan_stage(network_, within);
  }
}

MicroBatchRange StepPlan::micro_batches_of(std::int64_t replica) const {
  const std::int64_t total = micro_batches_a_step();
  return {.begin = replica * total / grid_.replicas, .end = (replica + 1) * total / grid_.replicas};
}

std::int64_t StepPlan::busiest_replica() const {
  std::int64_t busiest = 0;
  for (std::int64_t r = 1; r < grid_.replicas; ++r)
    if (micro_batches_of(r).size() > micro_batches_of(busiest).size()) busiest = r;
  return busiest;
}

bool StepPlan::is_invariant() const {
  if (grid_.replicas == 1) return true;
  if (spec_.reduction == ReductionKind::kFast) return false;
  const std::int64_t total = micro_batches_a_step();
  return total % grid_.replicas == 0 && std::has_single_bit(static_cast<std::uint64_t>(total / grid_.replicas));
}

PipelineSpec StepPlan::pipeline_of(std::int64_t replica) const {
  PipelineSpec pipeline{.stages = grid_.stages,
                        .micro_batches = micro_batches_of(replica).size(),
                        .num_buckets = {},
                        .agree_on_update = LossScale(spec_.network.type).is_dynamic() || spec_.clip_norm > 0 ||
                                           needs_tensor_norms(spec_.optimizer.kind)};
  for (const StagePlan& stage : stages_) pipeline.num_buckets.push_back(std::ssize(stage.layout.buckets));
  return pipeline;
}

Schedule StepPlan::training_schedule(std::int64_t replica) const {
  return make_schedule(spec_.schedule, pipeline_of(replica));
}

Schedule StepPlan::evaluation_schedule(std::int64_t replica) const {
  return make_evaluation(pipeline_of(replica));
}

std::int64_t StepPlan::num_slots() const {
  return num_optimizer_slots(spec_.optimizer.kind) + (spec_.ema_decay > 0 ? 1 : 0);
}

StageUse StepPlan::stage_use() const {
  return {.num_leaves = micro_batches_of(busiest_replica()).size(),
          .num_replicas = grid_.replicas,
          .num_slots = num_slots()};
}

std::int64_t StepPlan::num_recomputed(std::int64_t stage) const {
  const StagePlan& plan = stages_[stage];
  std::int64_t num = 0;
  for (std::int64_t i = 0; i < plan.layout.cells.size(); ++i) {
    const std::int64_t cell = plan.layout.cells.begin + i;
    const bool computes = network_[cell]->memory().saved_size_bytes() > 0 && cell >= plan.first_trained;
    if (plan.shares_saved[i] && computes) ++num;
  }
  return num;
}

StageMemory StepPlan::memory_of(std::int64_t stage) const {
  return stage_memory(stages_[stage], stage_use());
}

}  // namespace convoy
