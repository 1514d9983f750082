/// Whether the job's time is enough for the training.
#pragma once

#include <optional>

#include "preflight/report.h"
#include "preflight/run_plan.h"

namespace convoy::preflight {

/// `left_seconds` of the job, where it is known; `needed_seconds` that the steps left are predicted to take, likewise.
Finding judge_time(std::optional<double> left_seconds, std::optional<double> needed_seconds);

/// What SLURM_JOB_END_TIME says, at a time of day in seconds since 1970; nothing where it says nothing.
std::optional<double> seconds_left(const char* slurm_job_end_time, double now);

/// `plan` may be null; `done_steps` of it. Rank 0 alone; it does not wait.
void check_time(const RunPlan* plan, std::int64_t done_steps, Report& report);

}  // namespace convoy::preflight
