/// Rank 0's record of a run: adds up the metrics of an epoch, writes rows to the run directory, and prints lines.
#pragma once

#include <optional>
#include <string>

#include "convoy/base/clock.h"
#include "convoy/base/progress_line.h"
#include "convoy/io/training_state.h"

#include "run/divergence.h"
#include "run/live_files.h"
#include "run/pace.h"
#include "run/run_data.h"
#include "run/run_log.h"
#include "step/step_clock.h"

namespace convoy {

struct Parameters;

/// The arguments of a RunRecord.
struct RunRecordSpec {
  const Parameters& params;
  StepCount steps;
  std::string measured;               ///< data set that is measured after epochs: "test" or "val"
  std::string kind;                   ///< kind of input: input_kinds::kImages or kText
  MetricList metrics = MetricList();  ///< metrics of the network
  /// First step that steps.csv must have; above 1 if the run began from a file; 0: not known.
  std::int64_t first_row = 1;
  LiveSpec live;
};

/// How a run ended, and in which state.
struct RunEnd {
  bool stopped = false;        ///< stopped early by a signal or an audit
  bool by_audit = false;       ///< stopped because an audit has found a wrong rank
  bool lost_patience = false;  ///< ended early by train.patience_epochs
  io::TrainingState state;
  std::string checkpoint;  ///< path of the checkpoint from which a restart resumes; empty: there is none
  std::string best;    ///< path of the checkpoint that evaluate, predict and export use; empty: there is no best one
  std::string memory;  ///< result of compare_memory()
  std::string audits;  ///< result of RunAudits::summary(); empty: there were no audits
  std::string step;    ///< result of compare_step(); empty: the duration of a step was not predicted
};

/// Records the steps and epochs of a run. Exists on rank 0 only. Members that write rows throw Error with the file and
/// the system's reason if they cannot; only add_start() and add_checkpoint() ignore it.
class RunRecord {
 public:
  /// Begins at the state `start`, and continues the sums of its epoch. Warns if rows of earlier steps are missing in
  /// the tables. `clock` has the durations of steps and must outlive this object.
  RunRecord(const RunRecordSpec& spec, const io::TrainingState& start, const StepClock& clock);

  /// Records the start of the run in log.jsonl.
  void add_start(const std::string& version, const std::string& machine);
  /// Prints the text as a line of its own on standard output, as ProgressLine::line() does.
  void say(const std::string& text) { progress_line_.line(text); }
  /// Adds a step. A step that was not applied (kBad, kWrong) counts neither for the epoch's sums nor for the range of
  /// the loss.
  void add_step(const StepRow& row);
  /// Continues from this state of an earlier step: removes the rows of later steps from the tables.
  void go_back_to(const io::TrainingState& state);
  /// Adds the row of an epoch, at its end or at the end of the run. `measured` is set if an evaluation was due.
  /// `wait_seconds` is the time that the slowest loader has waited for samples in the epoch.
  void add_epoch(std::int64_t step, const std::optional<StepMetrics>& measured, double lr, double wait_seconds);
  /// Adds the result on data.test, at the end of a run that is measured on data.val after epochs.
  void add_test(const TestResult& result);
  /// Adds the measurements of all ranks in an interval.
  void add_samples(const RankSamples& samples) { live_.add_samples(samples); }
  /// Gives all waiting rows of all files to the system. Does not wait for the disk.
  void write_rows();
  /// Records that a checkpoint is complete under its final name. Any thread may call it.
  void add_checkpoint(std::int64_t step, const std::string& path) const { live_.add_checkpoint(step, path); }
  /// Waits until the written rows are on the disk. Any thread may call it. Throws Error if the disk is full.
  void sync_rows() const { log_.sync_rows(); }
  /// The range of the loss so far.
  const LossRange& loss_range() const { return loss_range_; }
  /// Writes the sums of the epoch and the range of the loss to the state of a checkpoint.
  void save_to(io::TrainingState& state) const;
  /// Adds time that was spent on work other than training steps.
  void add_other(const OtherSeconds& seconds) { pace_.add_other(seconds); }
  /// Prints the last lines of a run, and records its end.
  void summarise(const RunEnd& end);

 private:
  std::int64_t epoch_of(std::int64_t step) const { return (step - 1) / spec_.steps.per_epoch + 1; }
  std::int64_t num_epochs() const { return epoch_of(spec_.steps.total); }
  /// Time in seconds since the epoch began, without work other than training.
  double training_seconds() const { return now_seconds() - epoch_start_seconds_ - pace_.of_epoch().total(); }
  double seconds_left(std::int64_t step, std::int64_t epochs) const;
  std::string shown_other_seconds() const;
  std::string measured_metric() const;
  /// Returns which rows of the tables stay. The row of an unfinished epoch is removed if the epoch continues.
  RunLog::Keep rows_before(const io::TrainingState& start) const;
  void time_from(std::int64_t step);

  RunRecordSpec spec_;
  RunLog log_;
  LiveFiles live_;
  ProgressLine progress_line_;
  const StepClock& clock_;
  Pace pace_;
  StepMetrics epoch_;
  LossRange loss_range_;
  std::int64_t first_step_, epoch_first_step_;
  double start_seconds_, epoch_start_seconds_;
};

}  // namespace convoy
