/// Decides about bad steps from the state of the training alone, so that all ranks, all grids and a restart agree.
#include "run/bad_steps.h"

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/wording.h"
#include "convoy/comm/on_root.h"
#include "convoy/data/loader.h"
#include "convoy/params/parameters.h"

#include "checkpoint/checkpointing.h"
#include "run/describe_bad_step.h"
#include "run/divergence.h"
#include "run/restart.h"
#include "step/find_bad_numbers.h"

namespace convoy {

namespace {

constexpr std::int64_t kAlwaysReported = 4;

// Returns the step at which the loss left its range: this bad step, if all losses before it were within the range.
std::int64_t left_step(std::int64_t bad_step, const RunRecord& record) {
  const std::int64_t left = record.loss_range().left_step();
  return left > 0 ? left : bad_step;
}

// Returns the checkpoint's `state` with what the run has learnt since: bad steps, rollbacks, the lower rate factor.
io::TrainingState lowered(io::TrainingState state, const io::TrainingState& now, const Parameters& params) {
  state.bad_steps = now.bad_steps;
  state.bad_steps_in_row = 0;
  state.rollbacks = now.rollbacks + 1;
  state.rate_factor = now.rate_factor * params.train.rollback_factor;
  const bool is_best_lost = params.checkpoint.best && now.best_step > state.step;  // its file is lost, too
  if (is_best_lost || state.metric_hash != now.metric_hash || state.metric != now.metric) state.forget_best();
  state.train_hash = now.train_hash;
  state.metric_hash = now.metric_hash;
  state.metric = now.metric;
  return state;
}

}  // namespace

BadStepAnswer answer_bad_step(const TrainParams& train, const io::TrainingState& state) {
  switch (train.on_bad_step) {
    case BadStepKind::kSkip:
      return state.bad_steps_in_row < train.max_bad_steps ? BadStepAnswer::kSkip : BadStepAnswer::kStop;
    case BadStepKind::kRollback:
      return state.rollbacks < train.max_rollbacks ? BadStepAnswer::kGoBack : BadStepAnswer::kStop;
    case BadStepKind::kStop:
      break;
  }
  return BadStepAnswer::kStop;
}

bool is_reported(std::int64_t n) {
  return n <= kAlwaysReported || std::has_single_bit(static_cast<std::uint64_t>(n));
}

bool BadSteps::may_go_back() const {
  return params_.train.on_bad_step == BadStepKind::kRollback;
}

bool BadSteps::must_go_back(StepOutcome outcome, io::TrainingState& state, const RunRecord* record) const {
  if (outcome == StepOutcome::kApplied) state.bad_steps_in_row = 0;
  if (outcome != StepOutcome::kBad) return false;
  const BadStepAnswer answer = answer_bad_step(params_.train, state);
  if (answer == BadStepAnswer::kSkip) {
    ++state.bad_steps;
    ++state.bad_steps_in_row;
    if (!is_reported(state.bad_steps)) return false;
  }
  const std::string what = describe(state);
  mpi::on_root(setup_.grid.world(), [&] {
    if (answer == BadStepAnswer::kStop) fail("{} {}", what, describe_stop(state, *record));
    if (answer == BadStepAnswer::kSkip)
      log_warning(fmt::format("{} The step is skipped: it changes nothing ({} skipped so far, {} in a row)", what,
                              counted(state.bad_steps, "step"), state.bad_steps_in_row));
    if (answer == BadStepAnswer::kGoBack) log_warning(what);
  });
  return answer == BadStepAnswer::kGoBack;
}

std::string BadSteps::describe_stop(const io::TrainingState& state, const RunRecord& record) const {
  const TrainParams& train = params_.train;
  std::string why = "The step was not applied, and the run ends";
  if (train.on_bad_step == BadStepKind::kSkip)
    why += fmt::format(", since {} bad steps in a row were skipped before it (train.max_bad_steps)",
                       state.bad_steps_in_row);
  if (train.on_bad_step == BadStepKind::kRollback)
    why += fmt::format(", since training went back {} times before (train.max_rollbacks)", state.rollbacks);
  return fmt::format("{}. {}", why, describe_way_back(checkpoint_directory(params_), left_step(state.step, record)));
}

// Describes the bad step. All ranks; empty except on rank 0. Reads the step's samples once more.
std::string BadSteps::describe(const io::TrainingState& state) const {
  const std::int64_t step = state.step;
  const std::unique_ptr<Loader> loader = setup_.open_steps(step - 1, 1);
  const std::vector<BadNumbers> found = find_bad_numbers(setup_.training, *loader);
  if (!setup_.grid.is_root()) return "";
  const BatchParams& batch = params_.batch;
  const auto names = [&](std::int64_t m) {
    std::vector<std::string> of_samples;
    for (std::int64_t i = 0; i < batch.micro; ++i) of_samples.push_back(setup_.name_of(step, m * batch.micro + i));
    return of_samples;
  };
  return describe_bad_step({.step = step,
                            .network = setup_.runtime.plan().network(),
                            .num_micro_batches = setup_.runtime.plan().micro_batches_per_step(),
                            .loss_limit = params_.train.loss_limit,
                            .lr = learning_rate(setup_.rates, step - 1) * state.rate_factor,
                            .names = names},
                           found);
}

io::TrainingState BadSteps::go_back(const io::TrainingState& now, RunRecord* record) const {
  const mpi::Communicator& world = setup_.grid.world();
  std::string path;
  std::vector<std::byte> bytes;
  mpi::on_root(world, [&] {
    const std::string directory = checkpoint_directory(params_);
    const std::int64_t left = left_step(now.step, *record);
    auto found = io::find_newest_checkpoint(
        directory,
        [](const std::string& file, const std::string& reason) {
          log_warning(fmt::format("{} is skipped: {}", file, reason));
        },
        first_step_not_to_resume(left));
    if (!found) fail("training cannot go back from the bad step {}. {}", now.step, describe_way_back(directory, left));
    path = found->path;
    bytes = std::move(found->bytes);
  });
  path = world.broadcast(path, 0);
  bytes = world.broadcast(std::move(bytes), 0);
  const io::Checkpoint checkpoint = io::decode_checkpoint(bytes, path);
  restore_checkpoint(checkpoint, path, setup_.training);
  io::TrainingState state = lowered(checkpoint.state, now, params_);
  setup_.training.loss_scale().restore({.scale = state.loss_scale, .good_steps = state.loss_scale_steps});
  if (record == nullptr) return state;
  record->go_back_to(state);
  record->say(
      fmt::format("training goes back to {} (step {}); the learning rate is now {:.6g} of what lr.schedule gives. "
                  "Rollback {} of at most {}",
                  path, state.step, state.rate_factor, state.rollbacks, params_.train.max_rollbacks));
  return state;
}

void BadSteps::remove_later_checkpoints(const io::TrainingState& state, std::int64_t last) const {
  mpi::on_root(setup_.grid.world(),
               [&] { io::remove_checkpoints_after(checkpoint_directory(params_), state.step, last); });
}

}  // namespace convoy
