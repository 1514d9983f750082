/// Rank 0's record of a run: sums what is counted in an epoch, writes it to the run directory, and prints it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/base/progress_line.h"
#include "convoy/io/training_state.h"

#include "run/divergence.h"
#include "run/live_record.h"
#include "run/pace.h"
#include "run/run_data.h"
#include "run/run_log.h"
#include "step/step_clock.h"

namespace convoy {

struct Parameters;

struct RunRecordSpec {
  const Parameters& params;
  StepCount steps;
  std::string measured;        ///< split that epochs are measured on: "test" or "val"
  std::string kind;            ///< kind of input
  MetricList metrics = {};     ///< metrics of the network
  std::int64_t first_row = 1;  ///< first step in steps.csv; above 1 if the run began from elsewhere; 0: unknown
  LiveSpec live;
};

/// How a run ended, and at which state.
struct RunEnd {
  bool stopped = false;        ///< stopped on request
  bool by_audit = false;       ///< stopped by an audit that has found a rank not to be trusted
  bool lost_patience = false;  ///< the measured value did not improve any more
  io::TrainingState state;
  std::string checkpoint;  ///< path of the one that a restart resumes from; empty: there is none
  std::string best;        ///< path of the one that evaluate, predict and export use; empty: the same
  std::string memory;      ///< text of compare_memory()
  std::string audits;      ///< text of RunAudits::summary(); empty: there were no audits
  std::string step;        ///< text of compare_step(); empty: no step was predicted
};

class RunRecord {
 public:
  /// Begins at the state `start`, and continues the sums of its epoch. Warns of rows that are lost. `clock` tells how
  /// long steps take, and outlives the record.
  RunRecord(const RunRecordSpec& spec, const io::TrainingState& start, const StepClock& clock);

  void add_start(const std::string& version, const std::string& machine);
  void say(const std::string& text) { progress_line_.line(text); }
  /// Adds a step. A bad step counts neither in the epoch's sums nor in the loss's range.
  void add_step(const StepRow& row);
  /// Continues from this state of an earlier step: rows of later steps are removed.
  void go_back_to(const io::TrainingState& state);
  /// Adds an epoch's row: at its end, or within it at the end of the run. `measured` is set if an evaluation was due.
  /// `wait_seconds`: seconds that the slowest loader waited in the epoch.
  void add_epoch(std::int64_t step, const std::optional<StepMetrics>& measured, double lr, double wait_seconds);
  /// Adds the result on data.test, at the end of a run whose epochs are measured on val.
  void add_test(const TestResult& result);
  /// Adds what every rank did in an interval.
  void add_round(const RankRound& round) { live_.add_round(round); }
  /// Writes all waiting rows: RunLog::write_rows() and LiveRecord::write_rows().
  void write_rows();
  /// Calls LiveRecord::add_checkpoint().
  void add_checkpoint(std::int64_t step, const std::string& path) const { live_.add_checkpoint(step, path); }
  void sync_rows() const { log_.sync_rows(); }
  const LossRange& loss_range() const { return loss_range_; }
  /// Writes the epoch's sums and the loss's range into a checkpoint's state.
  void save_to(io::TrainingState& state) const;
  /// Adds the time of an evaluation or a checkpoint, which is not training time.
  void add_other(const OtherSeconds& seconds) { pace_.add_other(seconds); }
  /// Prints the last lines of a run.
  void summarise(const RunEnd& end);

 private:
  std::int64_t epoch_of(std::int64_t step) const { return (step - 1) / spec_.steps.per_epoch + 1; }
  std::int64_t num_epochs() const { return epoch_of(spec_.steps.total); }
  /// Seconds since the epoch began, without those that are not training.
  double training_seconds() const { return now_seconds() - epoch_start_seconds_ - pace_.of_epoch().total(); }
  double seconds_left(std::int64_t step, std::int64_t epochs) const;
  std::string shown_other_seconds() const;
  std::string measured_metric() const;
  /// Returns the rows to keep. The row of an unfinished epoch is removed when the epoch continues.
  RunLog::Keep rows_before(const io::TrainingState& start) const;
  void time_from(std::int64_t step);

  RunRecordSpec spec_;
  RunLog log_;
  LiveRecord live_;
  ProgressLine progress_line_;
  const StepClock& clock_;
  Pace pace_;
  StepMetrics epoch_;
  LossRange loss_range_;
  std::int64_t first_step_, epoch_first_step_;
  double start_seconds_, epoch_start_seconds_;
};

}  // namespace convoy
