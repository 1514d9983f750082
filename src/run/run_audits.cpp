/// Writes a line for each finding, and a summary.
#include "run/run_audits.h"

#include <cstddef>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/wording.h"
#include "convoy/comm/gather.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"
#include "convoy/params/parameters.h"

#include "audit/judge.h"
#include "plan/planner.h"
#include "run/restart.h"

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
                    (finding.is_certain ? "" : ". It is not known which of these ranks is wrong"));
  if (lines.empty())
    lines.emplace_back(
        "results differed in the step, but repeating the computations gave equal results: no rank can be named");
  return lines;
}

void refuse_unlike_devices(const RankRuntime& runtime) {
  const std::vector<std::string> devices = mpi::gather_texts(runtime.grid().world(), runtime.device().description());
  mpi::on_root(runtime.grid().world(), [&] {
    for (std::size_t rank = 1; rank < devices.size(); ++rank)
      if (devices[rank] != devices[0])
        refuse(
            "run.audit_every compares bits, and only devices of one kind compute the same bits: rank 0 runs on {}, "
            "rank {} on {}. Use nodes of one kind, or leave out run.audit_every.",
            devices[0], rank, devices[rank]);
  });
}

}  // namespace

RunAudits::RunAudits(TrainingSetup& setup, std::optional<RunRecord>& record)
    : params_(setup.params),
      runtime_(setup.runtime),
      record_(record),
      audit_(setup.training,
             [&setup](std::int64_t step, std::int64_t number) { return setup.open_micro_batch(step, number); }) {
  if (params_.run.audit_every > 0) refuse_unlike_devices(runtime_);
}

void RunAudits::begin_step(std::int64_t step) {
  if (audit_.is_due(step + 1) && !audit_.is_due(step)) audit_.prepare(step + 1);
  if (!audit_.is_due(step)) return;
  const double start = now_seconds();
  audit_.begin(step);
  ++num_checked_;
  const double seconds = now_seconds() - start;
  seconds_ += seconds;
  if (record_) record_->add_other({.audit = seconds});
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
      "step {} was not applied, and the state of the ranks is not saved. {}{}. The findings are in {}/audit.log", step,
      set_aside(step),
      exclusion.empty() ? "" : fmt::format(". In Slurm, sbatch {} avoids the hosts named above", exclusion),
      params_.run.directory));
  try {
    const std::string path = params_.run.directory + "/audit.log";
    io::write_text_atomically(path, io::read_text(path).value_or("") + rows);
  } catch (const Error& error) {
    log_warning(error.what());
  }
}

// Sets aside checkpoints that may hold what a wrong rank has computed since the last check.
std::string RunAudits::set_aside(std::int64_t step) const {
  const std::string directory = checkpoint_directory(params_);
  const std::int64_t audited = last_audited_step(params_.run, step - 1);
  const auto skip = [](const auto&, const auto&) {};
  const auto newest = io::find_newest_checkpoint(directory, skip);
  if (!newest) return "There is no checkpoint: if the command is run again, training begins at step 0";
  const auto trusted = io::find_newest_checkpoint(directory, skip, audited + 1);
  if (!trusted)
    return fmt::format(
        "{}: {} may hold values from a faulty rank",
        audited == 0 ? "No earlier step was checked"
                     : fmt::format("No checkpoint is from step {} (the last step that was checked) or before", audited),
        newest->path);
  if (trusted->path == newest->path) return fmt::format("The run resumes from {}", newest->path);
  io::set_aside_checkpoints_after(directory, audited, step);
  return fmt::format(
      "Checkpoints after step {}, the last step that was checked, may hold values from a faulty rank: their names now "
      "end in .suspect, and the run resumes from {}",
      audited, trusted->path);
}

std::int64_t last_audited_step(const RunParams& run, std::int64_t step) {
  return run.audit_every == 0 ? 0 : step / run.audit_every * run.audit_every;
}

std::string RunAudits::summary() const {
  if (num_checked_ == 0) return "";
  const std::string found = num_wrong_ == 0 ? "none was found wrong" : "the last was found wrong";
  const std::string predicted =
      runtime_.plan().spec().machine
          ? fmt::format(" (predicted {} s)", plain_number(predict_audit_seconds(runtime_.plan()), 3))
          : "";
  return fmt::format("audits: {}, {}; {} s each{}", counted(num_checked_, "step"), found,
                     plain_number(seconds_ / static_cast<double>(num_checked_), 3), predicted);
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
