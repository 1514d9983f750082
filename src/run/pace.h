/// How long the rest of a run will take, from the times of its steps, measurements and checkpoints so far.
#pragma once

#include <cstdint>

namespace convoy {

/// Seconds that a run spends on other work than its steps.
struct OtherSeconds {
  double evaluation = 0;  ///< measuring on the data set of evaluations
  double save = 0;        ///< waiting for checkpoints
  double audit = 0;       ///< computing a micro-batch of another replica to audit it, before a step
  double studies = 0;     ///< writing a trace or a profile, once per run
  double write = 0;       ///< writing checkpoints during steps; not in the total

  double total() const { return evaluation + save + audit + studies; }
  OtherSeconds& operator+=(const OtherSeconds& more);
};

/// Sums of OtherSeconds by epoch. An epoch's sum includes the checkpoints since the epoch before ended: its own
/// checkpoint is written after its row.
class Pace {
 public:
  void add_other(const OtherSeconds& more);
  void end_epoch();

  /// Sum since the latest end of an epoch.
  const OtherSeconds& of_epoch() const { return epoch_; }
  const OtherSeconds& of_run() const { return run_; }

  /// Returns the seconds that `steps` more steps of `step_seconds` each will take, if `epochs` epochs end within them.
  /// Audits are assumed to take as long as in the mean of the `steps_done` steps, evaluations and checkpoints as in the
  /// mean of the ended epochs; before the first epoch has ended, evaluations count as 0 and checkpoints as per step so
  /// far. Negative (unknown) if `step_seconds` is 0.
  double seconds_left(double step_seconds, std::int64_t steps, std::int64_t epochs, std::int64_t steps_done) const;

 private:
  OtherSeconds epoch_, ended_epochs_, run_;
  std::int64_t num_ended_ = 0;
};

}  // namespace convoy
