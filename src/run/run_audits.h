/// The audits of a run (run.audit_every): when they happen, what they cost, and what is said and kept of a rank that is
/// found wrong.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/params/parameters.h"

#include "audit/audit.h"
#include "run/training_samples.h"
#include "step/rank_runtime.h"

namespace convoy {

class RunAudits {
 public:
  /// All outlive it. All ranks; throws RequestError where there are to be audits and ranks compute on devices of
  /// different kinds, which need not have the same bits.
  RunAudits(const Parameters& params, const TrainingSamples& samples, RankRuntime& runtime);

  /// All ranks, before the step of this number, counted from 1: where it is to be checked, begins that. Returns the
  /// seconds that it took.
  double begin_step(std::int64_t step);
  /// All ranks, after that step was found wrong (StepOutcome::kWrong): rank 0 warns of each finding, writes it to
  /// audit.log in the run's directory, and sets aside the checkpoints since the last step that was checked, if there is
  /// an older one. A disk that is full is a warning, too.
  void report(std::int64_t step);

  /// "audits: 12 steps, none was found wrong; 0.213 s each (predicted 0.198 s)"; empty where none was due. The
  /// prediction is left out where costs are not measured.
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

/// The last step up to `step` that was checked and found right; 0: there was none.
std::int64_t last_audited_step(const RunParams& run, std::int64_t step);

/// "--exclude=node7,node9": what to add to a job's sbatch line to leave out the hosts that are certainly wrong; empty
/// where there are none, or where no other would be left.
std::string describe_exclusion(const Audit::Result& result, std::int64_t num_stages);

}  // namespace convoy
