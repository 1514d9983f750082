/// Derives stages, schedules and memory from a parameter file and a grid.
#include "plan/step_plan.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/text.h"
#include "convoy/device/gpu_links.h"
#include "convoy/model/network_file.h"
#include "convoy/ops/sample_cross_entropy.h"
#include "convoy/params/parameters.h"

#include "plan/batch_norm_check.h"
#include "plan/recompute.h"
#include "plan/step_costs.h"
#include "update/loss_scale.h"
#include "update/optimizer.h"

namespace convoy {

namespace {

/// Returns modelled costs of a network for which nothing was measured. They are those of cells with a backward, because
/// the model computes forward as a share of both.
MachineCosts modelled_costs(NetworkSpec network) {
  network.trains = true;
  return model_machine_costs(make_network(network));
}

std::vector<std::string> names_of(const Network& network) {
  std::vector<std::string> names;
  for (const auto& cell : network) names.push_back(cell->name());
  return names;
}

// With more micro-batches the plan itself would take minutes and its lists gigabytes.
constexpr std::int64_t kMaxMicroBatches = 65'536;

// The largest count of a message that MPI takes.
constexpr std::int64_t kMaxMessageBytes = std::numeric_limits<int>::max();

/// Returns the largest divisor of `whole` from `min` to `max`; 0 if none exists.
std::int64_t divisor_within(std::int64_t whole, std::int64_t min, std::int64_t max) {
  for (std::int64_t d = std::min(whole, max); d >= min; --d)
    if (whole % d == 0) return d;
  return 0;
}

void check_replicas(const RuntimeSpec& spec, std::int64_t replicas) {
  const BatchParams& batch = spec.batch;
  if (batch.global / batch.micro >= replicas) return;
  const std::int64_t micro = divisor_within(batch.global, spec.mixes_labels ? 2 : 1, batch.global / replicas);
  refuse(
      "batch.micro = {} cuts batch.global = {} into {} micro-batches per step, fewer than the {} replicas of this job. "
      "{}; or use more stages or fewer ranks.",
      batch.micro, batch.global, batch.global / batch.micro, replicas,
      micro > 0 ? fmt::format("Largest that fits: batch.micro = {}", micro)
                : fmt::format("No batch.micro gives that many: use batch.global = {}", replicas * batch.micro));
}

void check_micro_batches(const RuntimeSpec& spec, const GridShape& grid) {
  check_replicas(spec, grid.replicas);
  const BatchParams& batch = spec.batch;
  const std::int64_t micro_batches = batch.global / batch.micro;
  if (micro_batches <= kMaxMicroBatches) return;
  const std::int64_t max = divisor_within(batch.global, 1, kMaxMicroBatches);
  refuse(
      "batch.micro = {} cuts batch.global = {} into {} micro-batches per step. Allowed: up to {}, so batch.micro = {} "
      "or more that divides batch.global.",
      batch.micro, batch.global, micro_batches, kMaxMicroBatches, batch.global / max);
}

void check_chunks(const Network& network, std::int64_t chunks, std::int64_t stages) {
  const std::int64_t cells = std::ssize(network), max = cells / stages;
  if (chunks == 1 || chunks <= max) return;  // too many stages for any chunk are refused by partition()
  refuse("schedule.chunks = {} on grid.stages = {} cuts the network into {} chunks, but it has {} cells. Allowed: {}",
         chunks, stages, chunks * stages, cells,
         max >= 2 ? fmt::format("schedule.chunks = 2 to {}, or fewer grid.stages.", max)
                  : std::string("fewer grid.stages, or another schedule.kind."));
}

void check_messages(const Network& network, const StagePlan& stage, std::int64_t batch_micro) {
  for (const ChunkPlan& chunk : stage.chunks) {
    const auto [bytes, receiver] = std::max(std::pair{chunk.boundary_in_bytes, chunk.cells.begin},
                                            std::pair{chunk.boundary_out_bytes, chunk.cells.end});
    if (bytes > kMaxMessageBytes)
      refuse(
          "batch.micro = {} gives activations of {} between stages, before cell {}. A message holds at most 2 GiB: use "
          "batch.micro = {} or less.",
          batch_micro, human_bytes(bytes), network[receiver]->name(), batch_micro * kMaxMessageBytes / bytes);
  }
}

}  // namespace

std::string engines_path(const RunParams& run) {
  return run.engines.empty() ? run.directory + "/" + kEnginesFile : run.engines;
}

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

NetworkList network_list(const io::ModelMetadata& metadata) {
  if (!metadata.network.empty()) return parse_network_list(metadata.network);
  return build_network_list({.name = metadata.name,
                             .settings = metadata.settings,
                             .input = metadata.shape(),
                             .num_classes = std::ssize(metadata.class_names),
                             .target = metadata.target})
      .list;
}

RuntimeSpec runtime_spec(const Parameters& params, const io::ModelMetadata& metadata) {
  return {.network = {.name = metadata.name,
                      .input = metadata.shape(),
                      .list = std::make_shared<const NetworkList>(network_list(metadata)),
                      .micro_batch = params.batch.micro,
                      .num_classes = std::ssize(metadata.class_names),
                      .target = metadata.target,
                      .type = storage_type(params.train.precision),
                      .freeze = params.train.freeze,
                      .rate_groups = params.optimizer.groups},
          .batch = params.batch,
          .schedule = params.schedule.kind.value_or(ScheduleKind::k1F1B),
          .chunks = params.schedule.kind && traits_of(*params.schedule.kind).has_chunks ? params.schedule.chunks : 1,
          .memory = params.memory,
          .optimizer = params.optimizer,
          .train = params.train,
          .checkpoint = params.checkpoint,
          .run = params.run,
          .loader_threads = params.data.loader_threads,
          .mixes_labels = params.augment.mixes(),
          .checks_numbers = true,
          .engines_file = engines_path(params.run),
          .cuts = params.grid.cuts,
          .on_gpu = params.run.device == DeviceKind::kCuda};
}

RuntimeSpec evaluation_spec(const Parameters& params, const io::ModelMetadata& metadata) {
  RuntimeSpec spec = runtime_spec(params, metadata);
  spec.network.trains = false;
  spec.network.freeze.clear();
  spec.network.rate_groups.clear();
  spec.memory.recompute = RecomputeKind::kNone;
  spec.train.ema_decay = 0;
  spec.run.audit_every = 0;
  return spec;
}

StepPlan::StepPlan(const RuntimeSpec& spec, const GridShape& grid)
    : spec_(spec),
      grid_(grid),
      network_(make_network(spec.network)),
      machine_(spec.machine ? *spec.machine : modelled_costs(spec.network)) {
  check_micro_batches(spec, grid);
  if (trains()) check_batch_norms(network_, spec.network);
  check_loss(spec.train, spec.network, gives_logits());
  if (spec.mixes_labels && !gives_logits() && target().kind == TargetKind::kClass)
    refuse("augment.mixup and augment.cutmix mix labels, which {} reads itself (objectives). Leave them out.",
           spec.network.name);
  if (const Metric& chosen = convoy::metric(metric()); trains() && !chosen.exists_for(target().kind, num_predicted()))
    refuse("train.metric = {} is not a metric of {}: {}. Allowed: {}.", chosen.name, spec.network.name,
           why_absent(chosen, target().kind, num_predicted()), metric_names(target().kind, num_predicted()));
  std::vector<StagePlanSpec> specs = cut();
  for (const StagePlanSpec& stage : specs) {
    stages_.push_back(plan_stage(network_, stage));
    check_messages(network_, stages_.back(), spec.batch.micro);
  }
  schedule_costs_ = costs();
  if (trains()) make_schedules();
  for (std::size_t s = 0; s < specs.size(); ++s) {
    for (std::int64_t c = 0; c < num_chunks(); ++c)
      for (const auto& [micro_batches, schedule] : schedules_)
        specs[s].num_frames[c] = std::max(specs[s].num_frames[c], max_in_flight(schedule[s], c));
    specs[s].recomputed = choose_recomputed(network_, specs[s], stage_use(), spec.memory);
    stages_[s] = plan_stage(network_, specs[s]);
  }
}

std::vector<StagePlanSpec> StepPlan::cut() const {
  check_chunks(network_, num_chunks(), grid_.stages);
  std::vector<StagePlanSpec> specs(
      grid_.stages, {.runs = {},
                     .bucket_floats = bucket_floats(),
                     .num_frames = std::vector<std::int64_t>(num_chunks(), evaluation_frames()),
                     .recomputed = std::vector<bool>(network_.size(), spec_.memory.recompute == RecomputeKind::kCell),
                     .splits_backward = splits_backward()});
  const std::vector<CellRange> runs = cut_network();
  for (std::size_t x = 0; x < runs.size(); ++x) specs[x % specs.size()].runs.push_back(runs[x]);
  return specs;
}

void StepPlan::make_schedules() {
  for (std::int64_t replica = 0; replica < grid_.replicas; ++replica) {
    const std::int64_t micro_batches = micro_batches_of(replica).size();
    if (!schedules_.contains(micro_batches))
      schedules_[micro_batches] = make_schedule(schedule_kind(), pipeline_of(replica));
  }
}

// Cuts the network into runs, each a virtual stage: by hand, or so that the slowest run is as fast as possible. Stages
// of several runs are then about even too; pairing long runs with short ones could make them more even. If no cut fits
// the memory, choose_recomputed() reports it. If a stage has several runs, the cut ignores the memory, and only
// choose_recomputed() checks it.
std::vector<CellRange> StepPlan::cut_network() const {
  const std::int64_t num_runs = grid_.stages * num_chunks();
  if (!spec_.cuts.empty()) return partition_at(spec_.cuts, names_of(network_), num_runs);
  const std::vector<double> seconds = seconds_of_cells();
  if (spec_.memory.limit_gib == 0 || num_chunks() > 1) return partition(seconds, num_runs);
  const std::vector<std::int64_t> frames = frames_of_stages();
  StagePlanSpec tried{.runs = {},
                      .bucket_floats = bucket_floats(),
                      .recomputed = std::vector<bool>(network_.size(), spec_.memory.recompute != RecomputeKind::kNone),
                      .splits_backward = splits_backward()};
  const auto runs = partition(seconds, num_runs, [&](std::int64_t stage, const CellRange& cells) {
    tried.runs = {cells};
    tried.num_frames = {frames[stage]};
    return fits_limit(stage_memory(plan_stage(network_, tried), stage_use()).total(), spec_.memory);
  });
  return runs.empty() ? partition(seconds, num_runs) : runs;
}

std::vector<double> StepPlan::seconds_of_cells() const {
  std::vector<double> seconds;
  for (const CellCost& cell : machine_.cells.cells)
    seconds.push_back(!trains() ? cell.evaluation_seconds
                                : cell.forward_seconds + cell.backward_seconds +
                                      (spec_.memory.recompute == RecomputeKind::kCell ? cell.recompute_seconds : 0));
  return seconds;
}

// Returns the number of frames of each stage with one chunk per stage. As the stages do not exist yet, the schedule is
// one of equal costs; a schedule that follows the real costs may hold a micro-batch more or less.
std::vector<std::int64_t> StepPlan::frames_of_stages() const {
  if (!trains()) return std::vector<std::int64_t>(static_cast<std::size_t>(grid_.stages), evaluation_frames());
  const Schedule schedule = make_schedule(schedule_kind(), {.stages = grid_.stages,
                                                            .micro_batches = micro_batches_of(busiest_replica()).size(),
                                                            .num_buckets = std::vector<std::int64_t>(grid_.stages, 1)});
  std::vector<std::int64_t> frames;
  for (const StageProgram& program : schedule)
    frames.push_back(std::max(evaluation_frames(), max_in_flight(program, 0)));
  return frames;
}

PipelineCosts StepPlan::costs() const {
  return step_costs(network_, stages_, stage_use(), machine_);
}

PipelineCosts StepPlan::evaluation_costs(MachineCosts machine) const {
  for (CellCost& cell : machine.cells.cells) cell.forward_seconds = cell.evaluation_seconds;
  return step_costs(network_, stages_, stage_use(), machine);
}

MicroBatchRange StepPlan::micro_batches_of(std::int64_t replica) const {
  const std::int64_t total = micro_batches_per_step();
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
  if (spec_.run.reduction == ReductionKind::kFast) return false;
  const std::int64_t total = micro_batches_per_step();
  return total % grid_.replicas == 0 && std::has_single_bit(static_cast<std::uint64_t>(total / grid_.replicas));
}

PipelineSpec StepPlan::pipeline_of(std::int64_t replica) const {
  PipelineSpec pipeline{.stages = grid_.stages,
                        .micro_batches = micro_batches_of(replica).size(),
                        .chunks = num_chunks(),
                        .num_buckets = {},
                        .agree_on_update = spec_.checks_numbers || spec_.run.audit_every > 0 ||
                                           LossScale(spec_.network.type).is_dynamic() || spec_.train.clip_norm > 0 ||
                                           tensor_norms(spec_.optimizer.kind) != TensorNorms::kNone};
  for (std::int64_t c = 0; c < num_chunks(); ++c) {
    for (const StagePlan& stage : stages_) {
      pipeline.num_buckets.push_back(stage.layout.runs[c].num_buckets);
      const ChunkPlan& chunk = stage.chunks[c];
      const std::span cells = std::span(network_).subspan(chunk.cells.begin, chunk.cells.size());
      const auto reads = [](const auto& cell) { return !cell->features().empty(); };
      pipeline.loads.push_back(chunk.is_last || std::any_of(cells.begin(), cells.end(), reads));
    }
  }
  pipeline.costs = schedule_costs_;
  return pipeline;
}

const Schedule& StepPlan::training_schedule(std::int64_t replica) const {
  return schedules_.at(micro_batches_of(replica).size());
}

Schedule StepPlan::evaluation_schedule(std::int64_t replica, std::int64_t num_steps) const {
  PipelineSpec pipeline = pipeline_of(replica);
  pipeline.micro_batches *= num_steps;
  return make_evaluation(pipeline);
}

std::int64_t StepPlan::num_states() const {
  return num_optimizer_states(spec_.optimizer.kind) + (spec_.train.ema_decay > 0 ? 1 : 0);
}

std::int64_t StepPlan::memory_accesses_per_update() const {
  constexpr std::int64_t kOfAverage = 2, kOfClipping = 1, kOfCheck = 1;
  return convoy::memory_accesses_per_update(spec_.optimizer.kind) + (spec_.train.ema_decay > 0 ? kOfAverage : 0) +
         (spec_.train.clip_norm > 0 ? kOfClipping : 0) + (spec_.checks_numbers ? kOfCheck : 0);
}

StageUse StepPlan::stage_use() const {
  return {.num_leaves = micro_batches_of(busiest_replica()).size(),
          .num_replicas = grid_.replicas,
          .reduction = spec_.run.reduction,
          .num_states = num_states(),
          .audits = spec_.run.audit_every > 0,
          .memory_accesses_per_update = memory_accesses_per_update(),
          .gpu_library_bytes = spec_.on_gpu ? gpu_library_bytes(grid_, num_chunks(), trains()) : 0,
          .loss_bytes = loss_bytes()};
}

// Returns the memory for the targets of a replica's step, and for the scores of a micro-batch and their gradients:
// those of the training and those of its evaluations, and a micro-batch of the audits. Labels of classes lie on the
// host.
std::int64_t StepPlan::loss_bytes() const {
  if (!gives_logits() || target().kind == TargetKind::kClass) return 0;
  const std::int64_t micro = spec_.batch.micro, targets = features::target_spec(target(), micro).bytes(),
                     scores = 2 * micro * static_cast<std::int64_t>(sizeof(ops::SampleScore)),
                     of_step = micro_batches_of(busiest_replica()).size() * targets + scores;
  if (!trains()) return of_step;
  return 2 * of_step + (spec_.run.audit_every > 0 ? targets + scores : 0);
}

std::int64_t StepPlan::num_recomputed(std::int64_t stage) const {
  const StagePlan& plan = stages_[stage];
  std::int64_t num = 0;
  for (const ChunkPlan& chunk : plan.chunks) {
    for (std::int64_t i = 0; i < chunk.cells.size(); ++i) {
      const std::int64_t cell = chunk.cells.begin + i;
      const bool computes = network_[cell]->memory().activation_bytes() > 0 && cell >= plan.first_trained;
      if (chunk.is_recomputed[i] && computes) ++num;
    }
  }
  return num;
}

}  // namespace convoy
