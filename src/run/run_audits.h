/// Runs the audits of a run (run.audit_every): when they happen, what they cost, and what is reported of a wrong rank.
#pragma once

#include <cstdint>
#include <string>

#include "audit/audit.h"
#include "run/training_samples.h"
#include "step/rank_runtime.h"

namespace convoy {

struct Parameters;
struct RunParams;

class RunAudits {
 public:
  /// All arguments outlive the object. All ranks. Throws RequestError if audits are asked for and ranks compute on
  /// devices of different kinds, which need not give the same bits.
  RunAudits(const Parameters& params, const TrainingSamples& samples, RankRuntime& runtime);

  /// All ranks, before the step of this number, counted from 1. Begins the audit if the step is to be checked. Returns
  /// the seconds that it took.
  double begin_step(std::int64_t step);
  /// All ranks, after that step was found wrong (StepOutcome::kWrong): rank 0 warns of each finding, writes it to
  /// audit.log in the run's directory, and sets aside the checkpoints since the last step that was checked, if an older
  /// one exists. A full disk is a warning, too.
  void report(std::int64_t step);

  /// Returns "audits: 12 steps, none was found wrong; 0.213 s each (predicted 0.198 s)"; empty if none was due. The
  /// prediction is left out if costs are not measured.
  std::string summary() const;

 private:
  void say(std::int64_t step, const Audit::Result& result) const;
  std::string set_aside(std::int64_t step) const;

  const Parameters& params_;
  RankRuntime& runtime_;
  Audit audit_;
  std::int64_t num_checked_ = 0, num_wrong_ = 0;
  double seconds_ = 0;
};

/// Returns the last step up to `step` that was checked and found right; 0: there was none.
std::int64_t last_audited_step(const RunParams& run, std::int64_t step);

/// Returns "--exclude=node7,node9", the option of sbatch that leaves out the hosts that are certainly wrong; empty if
/// there are none, or if no other host would be left.
std::string describe_exclusion(const Audit::Result& result, std::int64_t num_stages);

}  // namespace convoy
