/// Rank 0's record of a run: what is counted in an epoch, written to the run directory, and printed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/io/checkpoint.h"
#include "convoy/params/parameters.h"

#include "run/divergence.h"
#include "run/live_record.h"
#include "run/pace.h"
#include "run/report.h"
#include "run/run_data.h"
#include "run/run_log.h"
#include "step/step_clock.h"

namespace convoy {

struct RunRecordSpec {
  const Parameters& params;
  StepCount steps;
  std::string measured;        ///< the split that epochs are measured on: "test" or "val"
  std::string kind;            ///< of input
  MetricList metrics = {};     ///< of the network
  std::int64_t first_row = 1;  ///< of steps.csv, which a run that began from elsewhere has from there on; 0: unknown
  LiveSpec live;
};

/// How and where a run ended.
struct RunEnd {
  bool stopped = false;        ///< on request
  bool by_audit = false;       ///< stopped by an audit, which has found a rank that is not to be trusted
  bool lost_patience = false;  ///< what is measured did not improve any more
  io::TrainingState state;
  std::string checkpoint;  ///< that a restart resumes from; empty: there is none
  std::string best;        ///< what evaluate, predict and export take; empty: the same
  std::string memory;      ///< as compare_memory() says it
  std::string audits;      ///< as RunAudits::summary() does; empty: there were none
  std::string step;        ///< as compare_step() does; empty: nothing was predicted
};

class RunRecord {
 public:
  /// `start`: where this run begins; the sums of its epoch are gone on with. Rows that are lost are warned of. `clock`
  /// tells how long steps take, and outlives the record.
  RunRecord(const RunRecordSpec& spec, const io::TrainingState& start, const StepClock& clock);

  void add_start(const std::string& version, const std::string& machine);
  void say(const std::string& text) { progress_line_.line(text); }
  /// One that is bad counts neither in the epoch's sums nor in the loss's range.
  void add_step(const StepRow& row);
  /// Training continues from this state, of an earlier step: later rows go.
  void go_back_to(const io::TrainingState& state);
  /// At an epoch's end, or within one at the run's; `measured` where that was due. `wait_seconds`: what the slowest
  /// loader waited in it.
  void add_epoch(std::int64_t step, const std::optional<StepMetrics>& measured, double lr, double wait_seconds);
  /// At the end of a run whose epochs are measured on val.
  void add_test(const TestResult& result);
  /// What every rank did in an interval.
  void add_round(const RankRound& round) { live_.add_round(round); }
  /// As those of RunLog.
  void write_rows();
  /// As that of LiveRecord.
  void add_checkpoint(std::int64_t step, const std::string& path) const { live_.add_checkpoint(step, path); }
  void sync_rows() const { log_.sync_rows(); }
  const LossRange& loss_range() const { return loss_range_; }
  /// Writes the epoch's sums and the loss's range into a checkpoint's state.
  void save_to(io::TrainingState& state) const;
  /// After an evaluation or a checkpoint: their time is not training time.
  void add_other(const OtherSeconds& seconds) { pace_.add_other(seconds); }
  /// The last lines of a run.
  void summarise(const RunEnd& end);

 private:
  std::int64_t epoch_of(std::int64_t step) const { return (step - 1) / spec_.steps.an_epoch + 1; }
  std::int64_t num_epochs() const { return epoch_of(spec_.steps.total); }
  /// Since the epoch's begin, without what is no training.
  double training_seconds() const { return now_seconds() - epoch_start_seconds_ - pace_.of_epoch().total(); }
  double seconds_left(std::int64_t step, std::int64_t epochs) const;
  std::string shown_other_seconds() const;
  std::string measured_metric() const;
  /// The row of an unfinished epoch goes when the epoch goes on.
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
