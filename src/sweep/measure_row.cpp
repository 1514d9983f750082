/// Runs the parts of a training or of an evaluation without checkpoints, logs and metrics.
#include "sweep/measure_row.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/core.h>
#include <malloc.h>

#include "convoy/base/clock.h"
#include "convoy/base/log.h"
#include "convoy/base/median.h"
#include "convoy/base/print.h"
#include "convoy/base/wording.h"
#include "convoy/comm/gather.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/process_grid.h"
#include "convoy/data/training_set.h"
#include "convoy/model/network.h"
#include "convoy/params/parameters.h"

#include "calibrate/calibration.h"
#include "checkpoint/checkpointing.h"
#include "checkpoint/make_metadata.h"
#include "evaluation/evaluation.h"
#include "plan/batch_norm_check.h"
#include "plan/planner.h"
#include "run/largest_micro.h"
#include "run/memory_report.h"
#include "run/stop_request.h"
#include "run/training_setup.h"
#include "step/step_trace.h"
#include "sweep/sweep_rows.h"
#include "watchdog/status_board.h"

namespace convoy {

namespace {

/// Returns the costs that steps are predicted from: `known`, or found in run.directory, or measured. They are stored in
/// run.directory.
MachineCosts find_and_keep_costs(const std::optional<MachineCosts>& known, const Parameters& params,
                                 const io::ModelMetadata& metadata, const mpi::Communicator& ranks,
                                 ops::Backend& backend) {
  const CalibrationSpec spec = calibration_spec(runtime_spec(params, metadata).network, params.run, ranks, backend);
  MachineCosts costs = known ? *known : find_machine_costs(spec, ranks, backend);
  mpi::on_root(ranks, [&] { keep_costs(spec.file, costs); });
  return costs;
}

// Returns the number of outputs that the network computes for a step, and compares with targets.
std::int64_t count_outputs(const StepPlan& plan) {
  const Cell& last = *plan.network().back();
  double of_micro_batch = 0;
  if (plan.gives_logits()) {
    of_micro_batch = static_cast<double>(last.y().shape.count());
  } else {
    // Losses that a network computes itself are of outputs that it never has all at once: each takes 2 C operations.
    for (const LayerInfo& layer : last.layers())
      if (layer.operation.ends_with("cross-entropy"))
        of_micro_batch += layer.flop.forward / static_cast<double>(2 * layer.x.shape.c);
  }
  return std::llround(of_micro_batch) * plan.micro_batches_per_step();
}

// Returns what a row's plan says of it, and the memory that its ranks have taken.
RowMeasurement describe_row(const RankRuntime& runtime, const Resident& before, std::int64_t num_samples) {
  const StepPlan& plan = runtime.plan();
  RowMeasurement row{.stages = plan.grid().stages,
                     .replicas = plan.grid().replicas,
                     .batch_global = plan.spec().batch.global,
                     .batch_micro = plan.spec().batch.micro,
                     .num_samples = num_samples,
                     .num_parameters = count_parameters(plan.network()),
                     .output_bytes = count_outputs(plan) * kFloatBytes};
  row.memory_bytes_of_ranks = mpi::gather_values(runtime.grid().world(), std::vector{measured_memory(runtime, before)});
  return row;
}

// Returns the cuts of a plan as grid.cuts lists them: the first cell of each run of cells but the first.
std::vector<std::int64_t> cuts_of(const StepPlan& plan) {
  std::vector<std::int64_t> cuts;
  for (const StagePlan& stage : plan.stages())
    for (const ChunkPlan& chunk : stage.chunks)
      if (!chunk.is_first) cuts.push_back(chunk.cells.begin);
  std::ranges::sort(cuts);
  return cuts;
}

// Returns the parameters with the largest micro-batch that fits the ranks, and says why no larger one does.
Parameters with_largest_micro(const Parameters& params, const mpi::Communicator& ranks, ops::Backend& backend) {
  const io::Dataset data = open_training_set(params);
  const io::ModelMetadata metadata = model_metadata(params, data.info(), &ranks);
  const RunLayout layout = choose_layout(params, metadata, ranks, backend);
  const RuntimeSpec spec = training_spec(params, metadata, data.info(), layout, !backend.device().is_host());
  const GridShape grid = grid_shape(layout.stages, ranks.size());
  const LargestMicro largest =
      find_largest_micro(params, spec, grid, data.info().num_samples, CheckpointUse::kNone, backend, ranks);
  Parameters found = params;
  found.batch = largest.spec.batch;
  found.schedule.kind = largest.spec.schedule;
  found.grid.cuts = cuts_of(StepPlan(largest.spec, grid));  // another cut might need more memory
  found.sweep.micro.clear();
  if (ranks.rank() == 0)
    print("sweep.micro = max: batch.micro = {} and batch.global = {}. No more is possible: {}\n", found.batch.micro,
          found.batch.global, largest.reason);
  return found;
}

std::optional<RowMeasurement> measure_training(const Parameters& params, const mpi::Communicator& ranks,
                                               ops::Backend& backend, StatusBoard& board) {
  if (finds_largest_micro(params))
    return measure_training(with_largest_micro(params, ranks, backend), ranks, backend, board);
  // 1. The data and the layout
  const io::Dataset data = open_training_set(params);
  count_steps(params, data.info());  // may refuse, before anything is measured
  const io::ModelMetadata metadata = model_metadata(params, data.info(), &ranks);
  board.enter(Activity::kPlanning);
  RunLayout layout = choose_layout(params, metadata, ranks, backend);
  layout.machine = find_and_keep_costs(layout.machine, params, metadata, ranks, backend);  // known if several ranks
  // 2. The parts of a training
  board.enter(Activity::kStarting);
  malloc_trim(0);  // what earlier rows have freed
  TrainingSetup setup(params, data, metadata, layout, ranks, backend, board);
  const StepPlan& plan = setup.runtime.plan();
  const std::string few = describe_few_values(plan.network(), plan.spec().network);
  if (!few.empty() && ranks.rank() == 0) log_warning(few);
  initialise_parameters({.seed = params.train.seed}, setup.runtime);
  const std::int64_t warm_steps = params.sweep.warm_steps, num_steps = warm_steps + params.sweep.steps;
  const std::unique_ptr<Loader> loader = setup.open_steps(0, num_steps);
  // 3. The first steps
  StepTrace trace(setup.training, {.first = warm_steps, .num = params.sweep.steps});
  StopRequest stop(ranks);
  std::vector<double> seconds;
  bool stopped = false;
  board.enter(Activity::kTraining);
  for (std::int64_t step = 0; step < num_steps && !stopped; ++step) {
    trace.begin_step(step + 1);
    const double start = now_seconds();
    setup.training.run(*loader, params.optimizer.lr);
    if (step >= warm_steps) seconds.push_back(now_seconds() - start);
    trace.end_step({});
    stopped = stop.agreed();
  }
  stop.finish();
  const std::optional<Timeline> timeline = trace.end();
  setup.runtime.finish();
  RowMeasurement row = describe_row(setup.runtime, setup.before, data.info().num_samples);
  if (stopped) return std::nullopt;
  row.step_seconds = median(seconds);
  row.predicted_seconds = predict_step(plan).step_seconds;
  if (timeline) {
    row.shares = shares_of(plan, *timeline);
    row.busy_of_ranks = busy_shares(*timeline);
  }
  return row;
}

/// Measures the steps of an evaluation, and ends it after enough steps or when a stop is requested.
class PredictionClock {
 public:
  PredictionClock(const SweepParams& sweep, StopRequest& stop)
      : warm_steps_(sweep.warm_steps), num_steps_(sweep.warm_steps + sweep.steps), stop_(stop) {}

  /// Returns whether the evaluation is to end. It is called before each step.
  bool is_over() {
    if (num_done_ == warm_steps_) begin_seconds_ = now_seconds();
    stopped_ = stopped_ || stop_.agreed();
    return stopped_ || num_done_++ == num_steps_;
  }
  bool stopped() const { return stopped_; }
  /// Returns the mean time of the measured steps until now, in seconds.
  double mean_seconds() const { return (now_seconds() - begin_seconds_) / static_cast<double>(num_measured()); }
  std::int64_t num_measured() const { return std::max<std::int64_t>(0, std::min(num_done_, num_steps_) - warm_steps_); }

 private:
  std::int64_t warm_steps_, num_steps_, num_done_ = 0;
  double begin_seconds_ = 0;
  StopRequest& stop_;
  bool stopped_ = false;
};

std::optional<RowMeasurement> measure_prediction(const Parameters& params, const mpi::Communicator& ranks,
                                                 ops::Backend& backend, StatusBoard& board) {
  // 1. The data and the grid
  const io::Dataset train = open_training_set(params);
  const io::ModelMetadata metadata = model_metadata(params, train.info(), &ranks);
  const io::Dataset samples =
      params.data.test.empty() ? train : io::Dataset(params.data.test, "data.test", params.data.verify);
  board.enter(Activity::kPlanning);
  const MachineCosts machine = find_and_keep_costs(std::nullopt, params, metadata, ranks, backend);
  const ProcessGrid grid(ranks, std::max<std::int64_t>(1, params.grid.stages));
  // 2. The parts of a prediction
  board.enter(Activity::kStarting);
  malloc_trim(0);
  const Resident before = resident_from_here();
  RankRuntime runtime(evaluation_spec(params, metadata), grid, backend, board);
  EvaluationStep evaluation(runtime);
  initialise_parameters({.seed = params.train.seed}, runtime);
  // 3. The first steps
  StopRequest stop(ranks);
  PredictionClock clock(params.sweep, stop);
  EvaluationSpec spec{.samples = samples, .metadata = metadata, .params = params, .work = "predict"};
  if (runtime.plan().gives_logits()) spec.observe = [](const StepOutputs&) {};
  spec.stop = [&] { return clock.is_over(); };
  evaluate_dataset(evaluation, spec);
  const std::int64_t num_measured = clock.num_measured();
  const double step_seconds = num_measured > 0 ? clock.mean_seconds() : 0;
  stop.finish();
  RowMeasurement row = describe_row(runtime, before, samples.info().num_samples);
  row.step_seconds = step_seconds;
  if (num_measured > 0) row.predicted_seconds = predict_evaluation(runtime.plan(), machine, num_measured);
  if (clock.stopped()) return std::nullopt;
  if (num_measured == 0)
    row.failure = fmt::format(
        "{} are only {} of batch.global = {}, and the first steps (sweep.warm_steps = {}) are not counted: nothing was "
        "measured",
        counted(samples.info().num_samples, "sample"), counted(spec.num_steps(), "step"), params.batch.global,
        params.sweep.warm_steps);
  return row;
}

}  // namespace

std::optional<RowMeasurement> measure_row(const Parameters& params, const mpi::Communicator& ranks,
                                          ops::Backend& backend, StatusBoard& board) {
  return params.sweep.work == SweepWork::kTrain ? measure_training(params, ranks, backend, board)
                                                : measure_prediction(params, ranks, backend, board);
}

}  // namespace convoy
