/// Estimates how long the rest of a run will take, from its steps, evaluations and checkpoints so far.
#pragma once

#include <cstdint>

namespace convoy {

/// Time in seconds that a run spends on work other than its steps.
struct OtherSeconds {
  double evaluation = 0;  ///< evaluations
  double save = 0;        ///< waits of all ranks for checkpoints
  double audit = 0;       ///< computations of audits before steps
  double studies = 0;     ///< writing a trace or a profile, once per run
  double write = 0;       ///< writing checkpoints while steps run; not included in total()

  double total() const { return evaluation + save + audit + studies; }
  OtherSeconds& operator+=(const OtherSeconds& more);
};

/// Sums of OtherSeconds over epochs. The checkpoint at the end of an epoch counts for the next epoch, because it is
/// written after the epoch's row in log.csv.
class Pace {
 public:
  void add_other(const OtherSeconds& more);
  /// Called when the row of an epoch is written.
  void end_epoch();

  /// Sum since the last end_epoch().
  const OtherSeconds& of_epoch() const { return epoch_; }
  const OtherSeconds& of_run() const { return run_; }

  /// Returns the time in seconds for `steps` more steps of `step_seconds` each, in which `epochs` epochs end. Audits
  /// are assumed to take as long per step as in the `steps_done` steps of this run so far. Evaluations and checkpoints
  /// are assumed to take as long as in the mean of the ended epochs. Before the first epoch has ended, evaluations
  /// count as 0, and checkpoints as long per step as so far. Negative if `step_seconds` is 0: not known.
  double seconds_left(double step_seconds, std::int64_t steps, std::int64_t epochs, std::int64_t steps_done) const;

 private:
  OtherSeconds epoch_, ended_epochs_, run_;
  std::int64_t num_ended_ = 0;
};

}  // namespace convoy
