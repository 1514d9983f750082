/// See run_plan.h.
#include "preflight/run_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/io/checkpoint.h"
#include "convoy/params/parameters.h"

#include "calibrate/calibration.h"
#include "calibrate/run_layout.h"
#include "checkpoint/checkpointing.h"
#include "checkpoint/make_metadata.h"
#include "checkpoint/weights_file.h"
#include "plan/batch_norm_check.h"
#include "plan/machine_costs.h"
#include "plan/planner.h"
#include "run/report.h"
#include "run/restart.h"
#include "run/training_setup.h"
#include "update/optimizer.h"

namespace convoy::preflight {

namespace {

// Returns the costs that run.directory holds; none if a training would measure none either.
std::optional<MachineCosts> kept_costs(const Parameters& params, const NetworkSpec& network, const NodeLoad& node,
                                       std::int64_t ranks, ops::Backend& backend) {
  if (ranks == 1 || !params.plan.measure) return std::nullopt;
  return find_kept_costs({.network = network, .file = costs_path(params.run), .node = node}, ranks, backend);
}

RunPlan plan(const Parameters& params, const RunData& data, ops::Backend& backend, const NodeLoad& node,
             std::int64_t ranks) {
  const bool on_gpu = !backend.device().is_host();
  const NetworkSpec network = runtime_spec(params, data.metadata).network;
  const StepCount steps = count_steps(params, data.train.info());
  check_sample_path(params, data.train, data.metadata);
  const auto kept = kept_costs(params, network, node, ranks, backend);
  MachineCosts machine = kept ? *kept : model_machine_costs(make_network(network));
  machine.node = node;
  describe_cluster(params.plan, machine);
  const RunLayout layout = choose_layout(params, data.metadata, ranks, on_gpu, machine);
  RunPlan planned{
      .step = StepPlan(training_spec(params, data.metadata, data.train.info(), layout, on_gpu),
                       grid_shape(layout.stages, ranks)),
      .steps = steps,
      .costs_are_measured = kept.has_value(),
  };
  planned.step_seconds = predict_step(planned.step).step_seconds;
  return planned;
}

std::string describe(const RunPlan& run, std::int64_t batch, bool measures) {
  const GridShape& grid = run.step.grid();
  const char* const costs = run.costs_are_measured ? "costs measured before"
                            : measures             ? "from a model of the machine; convoy train will measure it"
                                                   : "from a model of the machine";
  return fmt::format("{} x {}; {} of {}, {} in an epoch; predicted step {} ms ({})", counted(grid.stages, "stage"),
                     counted(grid.replicas, "replica"), counted(run.steps.total, "step"), counted(batch, "sample"),
                     run.steps.per_epoch, plain_number(1e3 * run.step_seconds, 3), costs);
}

// The factor for what is not predicted: waiting for data, evaluations, checkpoints.
constexpr double kMargin = 1.2;

std::vector<std::string> states_of(const Parameters& params, const RunPlan& plan, ops::Backend& backend) {
  return make_optimizer(params.optimizer, plan.step.spec().network.type, backend.elementwise())->state_names();
}

Start check_checkpoint(const Parameters& params, const RunData& data, const RunPlan& plan, ops::Backend& backend,
                       FoundFile found, Report& report) {
  const io::Checkpoint checkpoint = io::decode_checkpoint(found.bytes, found.path);
  const std::int64_t num_bytes = std::ssize(found.bytes) + (checkpoint.parts ? checkpoint.parts->size_bytes() : 0);
  found.bytes = std::vector<std::byte>();
  const Resumed resumed{.path = found.path, .state = checkpoint.state};
  check_continues(params, data, checkpoint, resumed);
  check_restorable(checkpoint, found.path,
                   {.network = plan.step.network(),
                    .states = states_of(params, plan, backend),
                    .has_ema = params.train.ema_decay > 0});
  report.add("checkpoint", ok(fmt::format("will resume from {}: {}, {}; it is whole and fits the network",
                                          describe_progress(resumed.state.step, plan.steps, params.train), found.path,
                                          human_bytes(num_bytes))));
  const std::string changes =
      describe_changes(changes_since(checkpoint, found.path, params, data.train.info()), found.path);
  if (!changes.empty()) report.add("checkpoint", warning(changes));
  if (params.init.weights != "random") {
    const std::string unused = describe_unused_weights(params, checkpoint, found.path);
    report.add("weights", unused.empty() ? not_checked("init.weights is not used: the checkpoint has its own weights")
                                         : warning(unused));
  }
  return {.checkpoint = found.path, .step = resumed.state.step};
}

void check_weights(const Parameters& params, const RunData& data, const RunPlan& plan, Report& report) {
  const std::string where = "init.weights = " + params.init.weights;
  const FileWeights weights = decode_weights(read_weights_file(params.init.weights), params.init.weights,
                                             WeightsKind::kTrained, params.init.strip_prefix);
  if (weights.metadata) check_vocabulary(*weights.metadata, data.train.info(), "data.train", where);
  if (const std::string other = describe_new_normalisation(params, data.metadata, weights.metadata, where);
      !other.empty())
    report.add("weights", warning(other));
  const WeightMatch match = match_weights(plan.step.network(), weights.dict.tensors);
  if (match.is_exact())
    return report.add("weights", ok(where + ": the file is whole, and its tensors fit the network"));
  if (params.init.strict || match.matching.empty())
    return report.add(
        "weights",
        fails(fmt::format(
            "{} does not match this model: {}. {}{}", where, match.differences(), match.remedy(),
            params.init.strict && !match.matching.empty() ? " init.strict = false takes the tensors that fit." : "")));
  report.add("weights", warning(match.describe_part(where)));
}

}  // namespace

std::optional<RunPlan> plan_run(const Parameters& params, const RunData& data, ops::Backend& backend,
                                const NodeLoad& node, Report& report) {
  try {
    RunPlan planned = plan(params, data, backend, node, report.world().size());
    report.add("plan", ok(describe(planned, params.batch.global, params.plan.measure)));
    const std::string few = describe_few_values(planned.step.network(), planned.step.spec().network);
    if (!few.empty()) report.add("plan", warning(few));
    if (const std::string bound = describe_bound_bits(planned.step); !bound.empty()) report.add("plan", warning(bound));
    return planned;
  } catch (const Error& error) {
    report.add("plan", fails(error.what()));
    return std::nullopt;
  }
}

Finding judge_time(std::optional<double> left_seconds, std::optional<double> needed_seconds) {
  if (!left_seconds) return not_checked("no time limit of a batch system is known (SLURM_JOB_END_TIME)");
  if (*left_seconds <= 0) return fails("the job's time is over");
  const std::string left = fmt::format("the job has {} left", human_seconds(*left_seconds));
  if (!needed_seconds) return ok(left);
  const std::string text = fmt::format("{}, the steps are predicted to take {}", left, human_seconds(*needed_seconds));
  if (*needed_seconds * kMargin <= *left_seconds) return ok(text);
  return warning(text +
                 ". Without a signal before its end (sbatch --signal=TERM@120, or jobs/requeue.sh) the job loses the "
                 "steps since its newest checkpoint");
}

std::optional<double> seconds_left(const char* slurm_job_end_time, double now) {
  const double end = slurm_job_end_time == nullptr ? 0 : std::atof(slurm_job_end_time);
  if (end <= 0) return std::nullopt;
  return end - now;
}

void check_time(const RunPlan* plan, std::int64_t done_steps, Report& report) {
  std::optional<double> needed;
  if (plan != nullptr)
    needed = static_cast<double>(std::max<std::int64_t>(0, plan->steps.total - done_steps)) * plan->step_seconds;
  report.add("time", judge_time(seconds_left(std::getenv("SLURM_JOB_END_TIME"), wall_clock_seconds()), needed));
}

Start check_start(const Parameters& params, const RunData& data, const RunPlan& plan, ops::Backend& backend,
                  Report& report) {
  try {
    FoundFile found = find_start(params);
    if (!found.path.empty()) return check_checkpoint(params, data, plan, backend, std::move(found), report);
    report.add("checkpoint", ok("there is no checkpoint: the training begins at step 0"));
  } catch (const Error& error) {
    report.add("checkpoint", fails(error.what()));
    return {};
  }
  if (params.init.weights == "random") {
    report.add("weights", ok(fmt::format("random, from train.seed = {}", params.train.seed)));
    return {};
  }
  try {
    check_weights(params, data, plan, report);
  } catch (const Error& error) {
    report.add("weights", fails(fmt::format("init.weights = {}: {}", params.init.weights, error.what())));
  }
  return {};
}

}  // namespace convoy::preflight
