/// Plans the training on these ranks: its grid, number of steps, and predicted duration of a step. Finds what it would
/// start from (a checkpoint, given weights, or random weights), and checks whether that can be read and fits, and
/// whether the time limit of the job is long enough.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convoy/base/node_load.h"
#include "convoy/ops/backend.h"

#include "plan/step_plan.h"
#include "preflight/report.h"
#include "run/run_data.h"

namespace convoy {
struct Parameters;
}

namespace convoy::preflight {

/// The plan of a training that has not started.
struct RunPlan {
  StepPlan step;
  StepCount steps;
  /// Whether costs were measured, by an earlier start in run.directory; otherwise they are modelled.
  bool costs_are_measured = false;
  double step_seconds = 0;  ///< predicted duration of a step
};

/// Plans as train does, but without measuring: with the costs stored in run.directory, or with modelled ones. Reports
/// the plan, and the errors that train would report. Returns nothing if there is no plan. Only rank 0 calls it; it does
/// not wait for other ranks.
std::optional<RunPlan> plan_run(const Parameters& params, const RunData& data, ops::Backend& backend,
                                const NodeLoad& node, Report& report);

/// Compares the time that the job has left with the predicted time of the remaining steps, in seconds. Each is empty if
/// it is not known.
Finding judge_time(std::optional<double> left_seconds, std::optional<double> needed_seconds);

/// Returns the time in seconds from `now` to the end of the job. `slurm_job_end_time` is the value of
/// SLURM_JOB_END_TIME; both are in seconds since 1970. Empty if it is null or not a positive number.
std::optional<double> seconds_left(const char* slurm_job_end_time, double now);

/// Reports whether the time that the batch job has left suffices for the steps of the plan after the first
/// `done_steps`. If `plan` is null, it reports only the time that is left. Only rank 0 calls it; it does not wait for
/// other ranks.
void check_time(const RunPlan* plan, std::int64_t done_steps, Report& report);

/// What a training would start from.
struct Start {
  std::string checkpoint;  ///< path of the checkpoint from which it resumes; empty: none
  std::int64_t step = 0;   ///< number of steps that are already done
};

/// Reads the whole file, as train does, and compares it with the parameters, the data and the network. Reports the
/// result. Only rank 0 calls it; it does not wait for other ranks.
Start check_start(const Parameters& params, const RunData& data, const RunPlan& plan, ops::Backend& backend,
                  Report& report);

}  // namespace convoy::preflight
