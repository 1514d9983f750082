/// How long the rest of a run will take, from the times of its steps, measurements and checkpoints so far.
#pragma once

#include <cstdint>

namespace convoy {

/// What a run does beside its steps, seconds.
struct OtherSeconds {
  double evaluation = 0;  ///< measuring on the test set
  double save = 0;        ///< waiting for checkpoints
  double audit = 0;       ///< computing a micro-batch of another replica, before a step
  double studies = 0;     ///< writing a trace or a profile, once a run
  double write = 0;       ///< writing checkpoints while steps go on, so it is not in the total

  double total() const { return evaluation + save + audit + studies; }
  OtherSeconds& operator+=(const OtherSeconds& more);
};

/// Sums of them, by epoch. An epoch's row tells of the checkpoints since the row before: its own is written after it.
class Pace {
 public:
  void add_other(const OtherSeconds& more);
  void end_epoch();

  /// Since the latest end of an epoch.
  const OtherSeconds& of_epoch() const { return epoch_; }
  const OtherSeconds& of_run() const { return run_; }

  /// For `steps` more, of `step_seconds` each, in which `epochs` will end. Measurements and checkpoints are taken to
  /// stay as long as they were in the mean of the epochs that have ended; before the first has, checkpoints to be as
  /// frequent as in the `steps_done`. Negative where `step_seconds` is 0: unknown.
  double seconds_left(double step_seconds, std::int64_t steps, std::int64_t epochs, std::int64_t steps_done) const;

 private:
  OtherSeconds epoch_, ended_epochs_, run_;
  std::int64_t num_ended_ = 0;
};

}  // namespace convoy
