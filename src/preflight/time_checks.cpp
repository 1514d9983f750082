/// See time_checks.h.
#include "preflight/time_checks.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

#include "convoy/base/clock.h"
#include "convoy/base/text.h"

namespace convoy::preflight {

namespace {

// The factor for what is not predicted: waiting for data, evaluations, checkpoints.
constexpr double kMargin = 1.2;

}  // namespace

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

}  // namespace convoy::preflight
