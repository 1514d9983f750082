/// A line for each finding, and a summary.
#include "run/run_audits.h"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/io/atomic_file.h"

#include "audit/describe_findings.h"
#include "plan/planner.h"

namespace convoy {

namespace {

// "node7, GPU-5e1f" is on node7.
std::string host_of(const std::string& place) {
  return place.substr(0, place.find(','));
}

std::vector<std::string> describe_all(const Audit::Result& result, const StepPlan& plan) {
  std::vector<std::string> lines;
  for (const AuditFinding& finding : result.findings)
    lines.push_back(describe_finding(finding, plan, result.places) +
                    (finding.is_certain ? "" : ". Which of the ranks that are named is wrong cannot be told"));
  if (lines.empty())
    lines.emplace_back("ranks differed, but computed the same when they did so once more: none can be named");
  return lines;
}

}  // namespace

RunAudits::RunAudits(const Parameters& params, const TrainingSamples& samples, RankRuntime& runtime)
    : params_(params), runtime_(runtime), audit_(runtime, [&samples](std::int64_t step, std::int64_t number) {
        return samples.open_micro_batch(step, number);
      }) {}

void RunAudits::begin_step(std::int64_t step) {
  if (!audit_.is_due(step)) return;
  const ScopedTimer timer(seconds_);
  ++num_checked_;
  audit_.begin(step);
}

void RunAudits::report(std::int64_t step) {
  ++num_wrong_;
  const Audit::Result result = audit_.settle();
  if (runtime_.grid().is_root()) say(step, result);
}

void RunAudits::say(std::int64_t step, const Audit::Result& result) const {
  std::string rows;
  for (const std::string& line : describe_all(result, runtime_.plan())) {
    log_warning(fmt::format("audit of step {}: {}", step, line));
    rows += fmt::format("step {}: {}\n", step, line);
  }
  const std::string exclusion = describe_exclusion(result, runtime_.grid().num_stages());
  log_warning(fmt::format(
      "step {} was not applied. What the ranks hold is not saved: the run ends, to be resumed from its last "
      "checkpoint{}. {}/audit.log keeps what was found",
      step, exclusion.empty() ? "" : fmt::format(", in Slurm without the hosts above by sbatch {}", exclusion),
      params_.run.directory));
  try {
    const std::string path = params_.run.directory + "/audit.log";
    io::write_text_atomically(path, io::read_text(path).value_or("") + rows);
  } catch (const Error& error) {
    log_warning(error.what());
  }
}

std::string RunAudits::summary() const {
  if (num_checked_ == 0) return "";
  const std::string found = num_wrong_ == 0 ? "none was found wrong" : "the last was found wrong";
  const std::string predicted = runtime_.plan().spec().machine
                                    ? fmt::format(" (predicted {:.3g} s)", predict_audit_seconds(runtime_.plan()))
                                    : "";
  return fmt::format("audits: {} step{}, {}; {:.3g} s each{}", num_checked_, num_checked_ == 1 ? "" : "s", found,
                     seconds_ / static_cast<double>(num_checked_), predicted);
}

std::string describe_exclusion(const Audit::Result& result, std::int64_t num_stages) {
  std::set<std::string> all, wrong;
  for (const std::string& place : result.places) all.insert(host_of(place));
  for (const AuditFinding& finding : result.findings)
    if (finding.is_certain) wrong.insert(host_of(result.places[finding.replica * num_stages + finding.stage]));
  if (wrong.empty() || wrong.size() == all.size()) return "";
  return fmt::format("--exclude={}", fmt::join(wrong, ","));
}

}  // namespace convoy
