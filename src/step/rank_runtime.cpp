/// Gives a rank's part of the plan its memory and operations, and lets one executor at a time use them.
#include "step/rank_runtime.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "convoy/data/loader.h"

#include "step/share_engines.h"
#include "step/step_executor.h"

namespace convoy {

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
}

LoaderSpec RankRuntime::loader_spec(const StepLoss* loss) const {
  std::vector<WantedFeature> wanted;
  for (const Cell* cell : stage_->cells())
    for (const Feature& feature : cell->features()) wanted.push_back({.name = feature.name, .spec = feature.spec});
  if (loss != nullptr) std::ranges::copy(loss->features(), std::back_inserter(wanted));
  return {.batch_global = plan_.spec().batch.global,
          .batch_micro = plan_.spec().batch.micro,
          .first_micro_batch = micro_batches().begin,
          .num_micro_batches = micro_batches().size(),
          .features = std::move(wanted),
          .threads = plan_.spec().loader_threads};
}

// The executors share the stage's frames.
void RankRuntime::run(StepExecutor& executor, BatchSource& source, std::int64_t step) {
  if (active_ == nullptr) transport_->connect();
  if (&executor != active_) finish();
  active_ = &executor;
  executor.run(source, step);
}

void RankRuntime::finish() {
  if (active_ != nullptr) active_->finish();
}

void RankRuntime::take_new_parameters() {
  if (weights_) return weights_->publish(*stage_);
  stage_->reload_weights();
  on_new_parameters_();
}

}  // namespace convoy
