/// Makes the parts of a training step, in the order in which all ranks create their messages.
#include "step/training_step.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include "convoy/comm/topology.h"
#include "convoy/io/named_tensor.h"

namespace convoy {

namespace {

const RuntimeSpec& trained_spec(const RankRuntime& runtime) {
  if (!runtime.plan().spec().network.trains) throw std::logic_error("this network does not train: NetworkSpec::trains");
  return runtime.plan().spec();
}

// A node's ranks follow each other in world. All ranks of the grid.
std::int64_t neighbours(const ProcessGrid& grid) {
  return direct_neighbours(find_topology(grid.world()).min_ranks_on_a_node / grid.num_stages());
}

std::optional<ClipSpec> clip_spec(const StepPlan& plan, const ProcessGrid& grid) {
  if (plan.spec().train.clip_norm == 0) return std::nullopt;
  ClipSpec clip{.norm = plan.spec().train.clip_norm, .model = &grid.model(), .tensors_of_stages = {}, .in_order = {}};
  std::vector<std::int64_t> first_of_stages;
  std::int64_t num_tensors = 0;
  for (const StagePlan& stage : plan.stages()) {
    clip.tensors_of_stages.push_back(static_cast<int>(stage.layout.entries.size()));
    first_of_stages.push_back(num_tensors);
    num_tensors += std::ssize(stage.layout.entries);
  }
  for (std::int64_t c = 0; c < plan.num_chunks(); ++c) {
    for (std::int64_t s = 0; s < plan.grid().stages; ++s) {
      const ArenaRun& run = plan.stages()[s].layout.runs[c];
      for (std::int64_t e = 0; e < run.num_entries; ++e)
        clip.in_order.push_back(first_of_stages[s] + run.first_entry + e);
    }
  }
  return clip;
}

// Number of floats of a replica's summed gradient.
std::int64_t gradient_count(const RankRuntime& runtime) {
  const bool is_fast = runtime.plan().spec().run.reduction == ReductionKind::kFast;
  return runtime.stage().plan().layout.count + (is_fast ? slack_of_slices(runtime.grid().num_replicas()) : 0);
}

ShardedUpdateSpec update_spec(const RankRuntime& runtime, float* local_sum) {
  const RuntimeSpec& spec = runtime.plan().spec();
  return {.exchange = {.layout = runtime.stage().plan().layout,
                       .data = runtime.grid().data(),
                       .reduction = spec.run.reduction,
                       .neighbours = neighbours(runtime.grid()),
                       .local_sum = local_sum,
                       .parameters = runtime.stage().parameters().masters},
          .micro_batches_per_step = runtime.plan().micro_batches_per_step(),
          .parameters = runtime.stage().parameters(),
          .tells_roles = tells_roles(spec.optimizer),
          .tensor_norms = tensor_norms(spec.optimizer.kind),
          .clip = clip_spec(runtime.plan(), runtime.grid()),
          .ema_decay = spec.train.ema_decay};
}

}  // namespace

TrainingStep::TrainingStep(RankRuntime& runtime)
    : runtime_(runtime),
      loss_scale_(trained_spec(runtime).network.type),
      optimizer_(make_optimizer(trained_spec(runtime).optimizer, trained_spec(runtime).network.type,
                                runtime.operations().elementwise())),
      tree_(runtime.device(), runtime.operations().elementwise(), gradient_count(runtime),
            runtime.micro_batches().size()),
      update_(update_spec(runtime, tree_.sum()), {.device = runtime.device(),
                                                  .elementwise = runtime.operations().elementwise(),
                                                  .transport = runtime.transport(),
                                                  .optimizer = *optimizer_}),
      loss_(make_step_loss(runtime, runtime.micro_batches().size(), /*in_training=*/true)),
      parts_{.loss = loss_.get(),
             .tree = &tree_,
             .loss_scale = &loss_scale_,
             .update = &update_,
             .first_micro_batch = runtime.micro_batches().begin} {
  if (runtime.plan().spec().run.audit_every > 0) audit_ = std::make_unique<StepAudit>(runtime, parts_);
  judge_ = std::make_unique<StepJudge>(runtime, parts_, audit_.get());
  parts_.judge = judge_.get();
  executor_ = std::make_unique<StepExecutor>(runtime, bind_program(program()), parts_);
  if (audit_) executor_->tell(audit_->micro_batch());
  runtime.on_new_parameters([this] { update_.start_ema(); });
}

const StageProgram& TrainingStep::program() const {
  return runtime_.plan().training_schedule(runtime_.grid().replica())[runtime_.grid().stage()];
}

StepOutcome TrainingStep::run(BatchSource& source, double learning_rate) {
  update_.begin_step(
      {.learning_rate = learning_rate, .gradient_factor = 1.0 / loss_scale_.scale(), .number = counts_.updates + 1});
  runtime_.board().begin_step(counts_.steps + 1);
  runtime_.run(*executor_, source, counts_.steps++);
  if (audit_) audit_->end();
  if (executor_->outcome() == StepOutcome::kApplied) ++counts_.updates;
  ++steps_counted_;
  return executor_->outcome();
}

void TrainingStep::swap_ema() {
  runtime_.finish();
  update_.swap_ema();
  runtime_.stage().reload_weights();
}

void TrainingStep::set_batch_counters(std::map<std::string, std::int64_t> counters) {
  first_counters_ = std::move(counters);
  steps_counted_ = 0;
}

std::map<std::string, std::int64_t> TrainingStep::batch_counters() const {
  std::map<std::string, std::int64_t> counters;
  for (const auto& cell : runtime_.plan().network()) {
    for (const auto& entry : cell->memory().parameters()) {
      const std::string name = io::counter_name(entry.spec.name);
      if (name.empty()) continue;
      const auto first = first_counters_.find(name);
      counters[name] = (first == first_counters_.end() ? 0 : first->second) + (entry.spec.frozen ? 0 : steps_counted_);
    }
  }
  return counters;
}

}  // namespace convoy
