/// Checks whether the time limit of the job is long enough for the training.
#pragma once

#include <optional>

#include "preflight/report.h"
#include "preflight/run_plan.h"

namespace convoy::preflight {

/// Compares the time that the job has left with the predicted time of the remaining steps, in seconds. Each is empty if
/// it is not known.
Finding judge_time(std::optional<double> left_seconds, std::optional<double> needed_seconds);

/// Returns the time in seconds from `now` to the end of the job. `slurm_job_end_time` is the value of
/// SLURM_JOB_END_TIME; both are in seconds since 1970. Empty if it is null or not a positive number.
std::optional<double> seconds_left(const char* slurm_job_end_time, double now);

/// Reports whether the time suffices for the steps of the plan after the first `done_steps`. `plan` may be null. Only
/// rank 0 calls it; it does not wait for other ranks.
void check_time(const RunPlan* plan, std::int64_t done_steps, Report& report);

}  // namespace convoy::preflight
