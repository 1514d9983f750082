/// The run directory's tables: log.csv, a row per epoch, and steps.csv, a row per step, and which rows stay when a run
/// is resumed. Rank 0 only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "step/metric_list.h"
#include "step/metrics.h"
#include "step/step_executor.h"

namespace convoy {

struct LogColumns {
  std::string_view header;         ///< names, separated by commas
  std::ptrdiff_t step_column = 0;  ///< counted from 0
};

/// Steps that earlier starts have written rows of: the multiples of `every` from `first` to `last`, and `last`. `first`
/// is 0 if it is not known at which step the run began: then rows are expected from the first existing one on.
struct ExpectedRows {
  std::int64_t first = 1, last = 0, every = 1;
};

struct KeptRows {
  std::string text;       ///< each row with its newline, without the header
  std::string lost = {};  ///< a sentence about the lost rows; empty if there are none
};

/// Returns the rows of steps up to `last_step` of the table's `text`. A row that was cut short, is out of order or does
/// not belong to this table counts as lost. Rows of an older Convoy, whose table has fewer columns, are filled up with
/// empty fields. `path` names the table in the sentence.
KeptRows keep_rows(const std::string& path, std::string_view text, const LogColumns& columns, std::int64_t last_step,
                   const ExpectedRows& expected);

struct StepRow {
  std::int64_t step = 0;
  StepMetrics metrics;
  double lr = 0;
  std::optional<std::uint64_t> fingerprint;  ///< only for some steps (run.fingerprint_every)
  StepOutcome outcome = StepOutcome::kApplied;
  double seconds = 0;  ///< seconds that the step took
};

/// Returns "bad" or "overflow", as tables name a step that was not applied; "" for one that was applied.
const char* why_skipped(StepOutcome outcome);

struct EpochRow {
  std::int64_t epoch = 0, step = 0, samples = 0;
  StepMetrics train;
  std::optional<StepMetrics> test, val;  ///< not in every epoch, and only one of them
  double lr = 0;
  double samples_per_second = 0;
  double data_wait_percent = 0;
  double seconds = 0;
  double evaluation_seconds = 0;
  double save_seconds = 0;   ///< ranks waited for checkpoints since the last row; its own checkpoint comes later
  double write_seconds = 0;  ///< checkpoints were written during steps since the last row
};

/// Result of the run on data.test, if its weights were chosen on data.val.
struct TestResult {
  std::int64_t step = 0;   ///< of the weights
  std::string checkpoint;  ///< checkpoint that holds the weights
  StepMetrics metrics;
};

class RunLog {
 public:
  /// Rows of each table that stay: those up to a step; 0: none.
  struct Keep {
    std::int64_t epochs = 0, steps = 0;
    ExpectedRows expected_epochs = {}, expected_steps = {};
  };

  /// Opens both files of the run directory. Each of `metrics` has columns of its own: train_masked_words_loss,
  /// val_macro_f1. Throws Error naming the file and the system's reason, also if the name belongs to something else
  /// than a regular file.
  RunLog(const std::string& directory, const Keep& keep, const MetricList& metrics = {});

  /// Sentences about the tables that have lost rows.
  const std::vector<std::string>& losses() const { return losses_; }

  /// Adds a row. It is written to the file when rows have waited for kMaxWaitSeconds. `now` is now_seconds().
  void add_step(const StepRow& row, double now);
  void add_epoch(const EpochRow& row);
  /// Writes test.csv: one row, of the latest result.
  void write_test(const TestResult& result) const;
  /// Writes all rows to the file: they survive if the process is killed. Does not wait for the disk.
  void write_rows();
  /// Waits until all rows that write_rows() has given to the system are on the disk; called before a checkpoint that
  /// covers them appears. May be called from any thread. Throws Error if the disk is full.
  void sync_rows() const;
  /// Calls write_rows() and sync_rows(). Throws Error if the disk is full.
  void flush();

  static constexpr double kMaxWaitSeconds = 3;  ///< with steps of 1 s, whose metrics arrive one step later: 5 s at most

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Table {
    std::string path;
    std::unique_ptr<std::FILE, Close> file;
  };
  Table open(const std::string& path, const LogColumns& columns, std::int64_t last_step, const ExpectedRows& expected);
  static void check(const Table& table, bool ok);
  static void sync(const Table& table);
  static void write_through(const Table& table);

  std::string directory_;
  MetricList metrics_;
  std::vector<std::string> losses_;
  Table epochs_, steps_;
  double first_waiting_seconds_ = 0;  ///< time at which the oldest row that is not yet in steps.csv was added; 0: none
};

}  // namespace convoy
