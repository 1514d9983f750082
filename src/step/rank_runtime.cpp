/// Gives a rank's part of the plan its memory, operations and executors.
#include "step/rank_runtime.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "convoy/comm/topology.h"
#include "convoy/data/loader.h"
#include "convoy/data/make_sample_path.h"
#include "convoy/io/named_tensor.h"
#include "convoy/params/parameters.h"

#include "step/share_engines.h"

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
  share_engines(plan_.network(), grid.world(), spec.engines_file, backend);
  transport_ = make_transport(grid, backend.device());
  const StagePlan& stage = plan_.stages()[grid.stage()];
  if (!spec.network.trains) weights_.emplace(grid, backend.device(), stage);
  stage_ = std::make_unique<Stage>(backend, plan_.network(), stage,
                                   weights_ ? weights_->arenas() : make_weight_arenas(backend.device(), stage));
  if (spec.network.trains) make_training();
  evaluation_loss_ = make_loss({.num_micro_batches = micro_batches().size(), .in_training = false});
  evaluation_ =
      make_executor(bind_program(plan_.evaluation_schedule(grid.replica())[grid.stage()], plan_.evaluation_frames()),
                    evaluation_loss_.get(), {});
  active_ = training_ ? training_->executor.get() : evaluation_.get();
  transport_->connect();
}

void RankRuntime::make_training() {
  Device& device = backend_.device();
  ops::ElementwiseOps& elementwise = backend_.elementwise();
  const RuntimeSpec& spec = plan_.spec();
  const ArenaLayout& layout = stage_->plan().layout;
  training_ = std::make_unique<Training>(Training{.loss_scale = LossScale(spec.network.type)});
  Training& t = *training_;
  t.optimizer = make_optimizer(spec.optimizer, spec.network.type, elementwise);
  const std::int64_t slack = spec.reduction == ReductionKind::kFast ? slack_of_slices(grid_.num_replicas()) : 0;
  t.tree = std::make_unique<GradientTree>(device, elementwise, layout.count + slack, micro_batches().size());
  t.update = std::make_unique<ShardedUpdate>(
      ShardedUpdateSpec{.exchange = {.layout = layout,
                                     .data = grid_.data(),
                                     .reduction = spec.reduction,
                                     .neighbours = neighbours(grid_),
                                     .local_sum = t.tree->sum(),
                                     .parameters = stage_->parameters().masters},
                        .micro_batches_per_step = plan_.micro_batches_per_step(),
                        .parameters = stage_->parameters(),
                        .tells_roles = tells_roles(spec.optimizer),
                        .tensor_norms = tensor_norms(spec.optimizer.kind),
                        .clip = clip(),
                        .ema_decay = spec.ema_decay},
      UpdateTools{.device = device, .elementwise = elementwise, .transport = *transport_, .optimizer = *t.optimizer});
  t.loss = make_loss({.num_micro_batches = micro_batches().size(), .in_training = true});
  if (spec.audit_every > 0) make_audit_parts();
  t.executor = make_executor(bind_program(training_program()), t.loss.get(),
                             {.tree = t.tree.get(),
                              .update = t.update.get(),
                              .loss_scale = &t.loss_scale,
                              .record = t.audit ? &t.audit->record() : nullptr,
                              .audit = t.audit.get(),
                              .checks_numbers = spec.checks_numbers,
                              .loss_limit = spec.loss_limit,
                              .seed = spec.seed,
                              .first_micro_batch = micro_batches().begin});
}

void RankRuntime::make_audit_parts() {
  Device& device = backend_.device();
  ops::ElementwiseOps& elementwise = backend_.elementwise();
  Training& t = *training_;
  t.audit = std::make_unique<StepAudit>(*stage_, *t.update, device, elementwise);
  t.repeat = std::make_unique<Repeat>(Repeat{.tree = GradientTree(device, elementwise, stage_->plan().layout.count, 1),
                                             .record = MicroBatchRecord(stage_->plan(), device, elementwise),
                                             .loss = make_loss({.num_micro_batches = 1}),
                                             .executor = nullptr});
  t.repeat->executor = make_executor(
      bind_program(plan_.audit_schedule()[grid_.stage()]), t.repeat->loss.get(),
      {.tree = &t.repeat->tree, .loss_scale = &t.loss_scale, .record = &t.repeat->record, .seed = plan_.spec().seed});
}

RankRuntime::Training& RankRuntime::training() const {
  if (training_ == nullptr) throw std::logic_error("this network does not train: NetworkSpec::trains");
  return *training_;
}

// On the last stage, which has the network's output.
std::unique_ptr<StepLoss> RankRuntime::make_loss(const StepLossSpec& spec) const {
  return grid_.is_last_stage() ? make_step_loss(plan_, spec, backend_) : nullptr;
}

std::span<const std::uint64_t> RankRuntime::repeat_micro_batch(BatchSource& source, std::int64_t number,
                                                               std::int64_t step) {
  Repeat& repeat = *training().repeat;
  activate(*repeat.executor);
  repeat.record.begin(0);
  repeat.executor->set_first_micro_batch(number);
  repeat.executor->run(source, step);
  return repeat.record.checksums();
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
  const StepLoss& loss = view == SampleView::kTraining ? *training().loss : *evaluation_loss_;
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
  Training& t = training();
  t.update->begin_step(
      {.learning_rate = learning_rate, .gradient_factor = 1.0 / t.loss_scale.scale(), .number = num_updates_ + 1});
  activate(*t.executor);
  board_.begin_step(num_steps_ + 1);
  t.executor->run(source, num_steps_++);
  if (t.audit) t.audit->end();
  if (t.executor->outcome() == StepOutcome::kApplied) ++num_updates_;
  ++steps_counted_;
  return t.executor->outcome();
}

void RankRuntime::set_beside(const ProgressHook& beside) {
  evaluation_->set_beside(beside);
  if (training_ == nullptr) return;
  training_->executor->set_beside(beside);
  if (training_->repeat) training_->repeat->executor->set_beside(beside);
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
  update().swap_ema();
  stage_->reload_weights();
}

void RankRuntime::take_new_parameters() {
  if (weights_) return weights_->publish(*stage_);
  stage_->reload_weights();
  if (training_ != nullptr) training_->update->start_ema();
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
