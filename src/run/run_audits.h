/// Runs the audits of a training (run.audit_every), measures their time, and reports a rank that they find wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "audit/audit.h"
#include "run/run_record.h"
#include "run/training_setup.h"

namespace convoy {

struct RunParams;

/// The audits of a run.
class RunAudits final : public StepObserver {
 public:
  /// All arguments must outlive this object. `record` is set on rank 0 from the first step on. All ranks of the grid
  /// call it. Throws RequestError if audits are asked for and ranks compute on different kinds of devices, whose
  /// results may differ in bits.
  RunAudits(TrainingSetup& setup, std::optional<RunRecord>& record);

  /// Begins the audit if the step is to be checked.
  void begin_step(std::int64_t step) override;
  /// Called by all ranks after step number `step` had the outcome StepOutcome::kWrong. Rank 0 warns of each finding,
  /// writes it to audit.log in the run directory, and renames the checkpoints that were saved since the last checked
  /// step, if an older one exists. If audit.log cannot be written, it only warns.
  void report(std::int64_t step);

  /// Returns "audits: 12 steps, none was found wrong; 0.213 s each (predicted 0.198 s)"; empty if no step was audited.
  /// The prediction is left out if the costs of cells were not measured.
  std::string summary() const;

 private:
  void say(std::int64_t step, const Audit::Result& result) const;
  std::string set_aside(std::int64_t step) const;

  const Parameters& params_;
  const RankRuntime& runtime_;
  std::optional<RunRecord>& record_;
  Audit audit_;
  std::int64_t num_checked_ = 0, num_wrong_ = 0;
  double seconds_ = 0;
};

/// Returns the number of the last step up to `step` that was audited; 0: there was none.
std::int64_t last_audited_step(const RunParams& run, std::int64_t step);

/// Returns the option of sbatch that excludes the hosts of ranks that are certainly wrong: "--exclude=node7,node9".
/// Empty if there are none, or if no other host would be left.
std::string describe_exclusion(const Audit::Result& result, std::int64_t num_stages);

}  // namespace convoy
