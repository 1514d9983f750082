/// The tables of the run directory: log.csv with a row per epoch, and steps.csv with a row per step. Decides which rows
/// stay when a run is resumed. Used by rank 0 only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "step/metric_list.h"
#include "step/metrics.h"
#include "step/step_executor.h"
#include "telemetry/log_file.h"

namespace convoy {

/// The results of a training step.
struct StepRow {
  std::int64_t step = 0;
  StepMetrics metrics;
  double lr = 0;
  /// Model_fingerprint() after the step; only for some steps (run.fingerprint_every).
  std::optional<std::uint64_t> fingerprint;
  StepOutcome outcome = StepOutcome::kApplied;
  double seconds = 0;  ///< duration of the step
};

/// Returns "bad" or "overflow", as tables name a step that was not applied; "" for one that was applied.
const char* why_skipped(StepOutcome outcome);

/// The results of an epoch. Times are in seconds.
struct EpochRow {
  std::int64_t epoch = 0, step = 0, samples = 0;  ///< counted since the training began
  StepMetrics train;
  std::optional<StepMetrics> test, val;  ///< at most one of them; both empty if no evaluation was due
  double lr = 0;
  double samples_per_second = 0;
  double data_wait_percent = 0;  ///< share of the training time in which the slowest loader had no samples ready
  double seconds = 0;            ///< training time, without evaluations, audits and waits for checkpoints
  double evaluation_seconds = 0;
  /// Waits of all ranks for checkpoints since the last row; the epoch's own checkpoint comes later.
  double save_seconds = 0;
  double write_seconds = 0;  ///< time of writing checkpoints while steps ran, since the last row
};

/// The result of a run on data.test, if its weights were chosen on data.val.
struct TestResult {
  std::int64_t step = 0;   ///< number of the step after which the weights were saved
  std::string checkpoint;  ///< path of the checkpoint that holds the weights
  StepMetrics metrics;
};

/// Writes log.csv, steps.csv and test.csv. All members that write throw Error with the file and the system's reason if
/// they cannot.
class RunLog {
 public:
  /// Which rows of the existing tables stay: those of steps up to these numbers; 0: none.
  struct Keep {
    std::int64_t epochs = 0, steps = 0;  ///< numbers of steps: for log.csv, and for steps.csv
    ExpectedRows expected_epochs = {}, expected_steps = {};
  };

  /// Opens log.csv and steps.csv in `directory`, and removes the test.csv of an earlier end of the run. Each of
  /// `metrics` has columns of its own: train_masked_words_loss, val_macro_f1. Those of top-1 are empty if the network
  /// has no top-1. Also throws if a table is not a regular
  /// file.
  RunLog(const std::string& directory, const Keep& keep, const MetricList& metrics = MetricList());

  /// Sentences about expected rows that are missing in the existing tables.
  const std::vector<std::string>& losses() const { return losses_; }

  /// Adds a row to steps.csv. Writes all waiting rows to the file if the oldest has waited for kMaxWaitSeconds. `now`
  /// is the result of now_seconds().
  void add_step(const StepRow& row, double now);
  /// Adds a row to log.csv, and calls flush(), which waits for the disk.
  void add_epoch(const EpochRow& row);
  /// Writes test.csv, which has one row: the latest result.
  void write_test(const TestResult& result) const;
  /// Gives all rows to the system, so that they survive if the process is killed. Does not wait for the disk.
  void write_rows() { steps_.write(); }
  /// Waits until all rows that write_rows() has written are on the disk. Called before a checkpoint that covers their
  /// steps appears. Any thread may call it. Throws Error if the disk is full.
  void sync_rows() const;
  /// Calls write_rows() and sync_rows(). Throws Error if the disk is full.
  void flush();

  /// Rows wait until one is added at least this time, in seconds, after the oldest. Metrics arrive one step late; so
  /// with steps of 1 s, a row is in the file 5 s after its step at most.
  static constexpr double kMaxWaitSeconds = 3;

 private:
  LogFile open(const std::string& path, const LogColumns& columns, std::int64_t last_step,
               const ExpectedRows& expected);

  std::string directory_;
  MetricList metrics_;
  std::vector<std::string> losses_;
  LogFile epochs_, steps_;
};

}  // namespace convoy
