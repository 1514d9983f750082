/// Gives a rank's part of the plan its memory, operations and executors.
#include "step/rank_runtime.h"

#include <algorithm>
#include <iterator>

#include "convoy/comm/topology.h"
#include "convoy/io/checkpoint.h"

#include "plan/share_engines.h"

namespace convoy {

namespace {

// A node's ranks follow each other in world. All ranks of the grid.
std::int64_t neighbours(const ProcessGrid& grid) {
  return direct_neighbours(find_topology(grid.world()).min_ranks_on_a_node / grid.num_stages());
}

}  // namespace

RankRuntime::RankRuntime(const RuntimeSpec& spec, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board)
    : plan_(spec, {.stages = grid.num_stages(), .replicas = grid.num_replicas()}),
      grid_(grid),
      backend_(backend),
      board_(board) {
  board_.take_place(grid.replica(), grid.stage());
  Device& device = backend.device();
  ops::ElementwiseOps& elementwise = backend.elementwise();
  const DataType type = spec.network.type;
  share_engines(plan_.network(), grid.world(), spec.engines_file, backend);
  transport_ = make_transport(grid, device);
  stage_ = std::make_unique<Stage>(backend, plan_.network(), plan_.stages()[grid.stage()]);
  const ArenaLayout& layout = stage_->plan().layout;
  loss_scale_ = std::make_unique<LossScale>(type);
  optimizer_ = make_optimizer(spec.optimizer, type, elementwise);
  const std::int64_t slack = spec.reduction == ReductionKind::kFast ? slack_of_slices(grid.num_replicas()) : 0;
  tree_ = std::make_unique<GradientTree>(device, elementwise, layout.count + slack, micro_batches().size());
  update_ = std::make_unique<ShardedUpdate>(
      ShardedUpdateSpec{.layout = layout,
                        .data = grid.data(),
                        .reduction = spec.reduction,
                        .neighbours = neighbours(grid),
                        .micro_batches_a_step = plan_.micro_batches_a_step(),
                        .local_sum = tree_->sum(),
                        .parameters = stage_->parameters(),
                        .tells_roles = tells_roles(spec.optimizer),
                        .tensor_norms = tensor_norms(spec.optimizer.kind),
                        .clip = clip(),
                        .ema_decay = spec.ema_decay},
      UpdateTools{.device = device, .elementwise = elementwise, .transport = *transport_, .optimizer = *optimizer_});
  if (grid.is_last_stage()) {
    StepLossSpec loss{.num_micro_batches = micro_batches().size(), .in_training = true};
    training_loss_ = make_step_loss(plan_, loss, backend);
    loss.in_training = false;
    evaluation_loss_ = make_step_loss(plan_, loss, backend);
  }
  if (spec.audit_every > 0) make_audit_parts();
  training_ = make_executor(bind_program(plan_.training_schedule(grid.replica())[grid.stage()]), training_loss_.get(),
                            {.tree = tree_.get(),
                             .update = update_.get(),
                             .loss_scale = loss_scale_.get(),
                             .record = audit_ ? &audit_->record() : nullptr,
                             .audit = audit_.get(),
                             .checks_numbers = spec.checks_numbers,
                             .loss_limit = spec.loss_limit,
                             .seed = spec.seed,
                             .first_micro_batch = micro_batches().begin});
  evaluation_ =
      make_executor(bind_program(plan_.evaluation_schedule(grid.replica())[grid.stage()], plan_.evaluation_frames()),
                    evaluation_loss_.get(), {});
  active_ = training_.get();
  transport_->connect();
}

void RankRuntime::make_audit_parts() {
  Device& device = backend_.device();
  ops::ElementwiseOps& elementwise = backend_.elementwise();
  audit_ = std::make_unique<StepAudit>(*stage_, *update_, device, elementwise);
  repeat_ = std::make_unique<Repeat>(
      Repeat{.tree = GradientTree(device, elementwise, stage_->plan().layout.count, 1),
             .record = MicroBatchRecord(stage_->plan(), device, elementwise),
             .loss = grid_.is_last_stage() ? make_step_loss(plan_, {.num_micro_batches = 1}, backend_) : nullptr,
             .executor = nullptr});
  repeat_->executor = make_executor(
      bind_program(plan_.audit_schedule()[grid_.stage()]), repeat_->loss.get(),
      {.tree = &repeat_->tree, .loss_scale = loss_scale_.get(), .record = &repeat_->record, .seed = plan_.spec().seed});
}

std::span<const std::uint64_t> RankRuntime::repeat_micro_batch(BatchSource& source, std::int64_t number,
                                                               std::int64_t step) {
  activate(*repeat_->executor);
  repeat_->record.begin(0);
  repeat_->executor->set_first_micro_batch(number);
  repeat_->executor->run(source, step);
  return repeat_->record.checksums();
}

std::optional<ClipSpec> RankRuntime::clip() const {
  if (plan_.spec().clip_norm == 0) return std::nullopt;
  ClipSpec clip{.norm = plan_.spec().clip_norm, .model = &grid_.model(), .tensors_of_stages = {}, .in_order = {}};
  std::vector<std::int64_t> first_of_stages;
  std::int64_t num_tensors = 0;
  for (const StagePlan& stage : plan_.stages()) {
    clip.tensors_of_stages.push_back(static_cast<int>(stage.layout.entries.size()));
    first_of_stages.push_back(num_tensors);
    num_tensors += std::ssize(stage.layout.entries);
  }
  for (std::int64_t c = 0; c < plan_.num_chunks(); ++c) {
    for (std::int64_t s = 0; s < plan_.grid().stages; ++s) {
      const ArenaRun& run = plan_.stages()[s].layout.runs[c];
      for (std::int64_t e = 0; e < run.num_entries; ++e)
        clip.in_order.push_back(first_of_stages[s] + run.first_entry + e);
    }
  }
  return clip;
}

std::unique_ptr<StepExecutor> RankRuntime::make_executor(BoundProgram program, StepLoss* loss,
                                                         const TrainingParts& training) const {
  return std::make_unique<StepExecutor>(ExecutorParts{.stage = *stage_,
                                                      .grid = grid_,
                                                      .device = backend_.device(),
                                                      .transport = *transport_,
                                                      .board = board_,
                                                      .loss = loss,
                                                      .training = training},
                                        std::move(program));
}

std::vector<WantedFeature> RankRuntime::wanted_features(SampleView view) const {
  std::vector<WantedFeature> wanted;
  for (const ChunkPlan& chunk : stage_->plan().chunks)
    for (std::int64_t i = chunk.cells.begin; i < chunk.cells.end; ++i)
      for (const Feature& feature : plan_.network()[i]->features())
        wanted.push_back({.name = feature.name, .spec = feature.spec});
  if (!grid_.is_last_stage()) return wanted;
  const StepLoss& loss = view == SampleView::kTraining ? *training_loss_ : *evaluation_loss_;
  std::ranges::copy(loss.features(), std::back_inserter(wanted));
  return wanted;
}

LoaderSpec RankRuntime::loader_spec(const Parameters& params, SampleView view) const {
  return {.batch_global = params.batch.global,
          .batch_micro = params.batch.micro,
          .first_micro_batch = micro_batches().begin,
          .num_micro_batches = micro_batches().size(),
          .features = wanted_features(view),
          .threads = params.data.loader_threads};
}

StepOutcome RankRuntime::train_step(BatchSource& source, double learning_rate) {
  update_->begin_step(
      {.learning_rate = learning_rate, .gradient_factor = 1.0 / loss_scale_->scale(), .number = num_updates_ + 1});
  activate(*training_);
  board_.begin_step(num_steps_ + 1);
  training_->run(source, num_steps_++);
  if (audit_) audit_->end();
  if (training_->outcome() == StepOutcome::kApplied) ++num_updates_;
  ++steps_counted_;
  return training_->outcome();
}

void RankRuntime::set_beside(const ProgressHook& beside) {
  for (StepExecutor* executor : {training_.get(), evaluation_.get()}) executor->set_beside(beside);
  if (repeat_) repeat_->executor->set_beside(beside);
}

void RankRuntime::set_batch_counters(std::map<std::string, std::int64_t> counters) {
  first_counters_ = std::move(counters);
  steps_counted_ = 0;
}

std::map<std::string, std::int64_t> RankRuntime::batch_counters() const {
  std::map<std::string, std::int64_t> counters;
  for (const auto& cell : plan_.network()) {
    for (const auto& entry : cell->memory().parameters()) {
      const std::string name = io::counter_name(entry.spec.name);
      if (name.empty()) continue;
      const auto first = first_counters_.find(name);
      counters[name] = (first == first_counters_.end() ? 0 : first->second) + (entry.spec.frozen ? 0 : steps_counted_);
    }
  }
  return counters;
}

void RankRuntime::swap_ema() {
  finish();
  update_->swap_ema();
  stage_->reload_weights();
}

void RankRuntime::evaluate_step(BatchSource& source) {
  activate(*evaluation_);
  evaluation_->run(source);
}

// The executors share the stage's frames: one at a time.
void RankRuntime::activate(StepExecutor& executor) {
  if (&executor != active_) finish();
  active_ = &executor;
}

void RankRuntime::finish() {
  active_->finish();
}

}  // namespace convoy
