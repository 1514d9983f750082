/// Checks whether the job's time is enough for the training.
#pragma once

#include <optional>

#include "preflight/report.h"
#include "preflight/run_plan.h"

namespace convoy::preflight {

/// Compares the time that the job has left, in seconds, with the predicted time of the remaining steps. Both are empty
/// if not known.
Finding judge_time(std::optional<double> left_seconds, std::optional<double> needed_seconds);

/// Returns the seconds from `now`, in seconds since 1970, to the value of SLURM_JOB_END_TIME; nothing if that is null
/// or no positive number.
std::optional<double> seconds_left(const char* slurm_job_end_time, double now);

/// Reports whether the time suffices for the plan's steps after the first `done_steps`. `plan` may be null. Only rank 0
/// calls it; it does not wait for other ranks.
void check_time(const RunPlan* plan, std::int64_t done_steps, Report& report);

}  // namespace convoy::preflight
