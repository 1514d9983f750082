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

/// The steps of the rows that were written before: the multiples of `every` from `first` to `last`, and `last`. With
/// `first` 0, where a run began at a step that nobody knows any more, from the first row that is there.
struct ExpectedRows {
  std::int64_t first = 1, last = 0, every = 1;
};

struct KeptRows {
  std::string text;       ///< each row with its newline, without the header
  std::string lost = {};  ///< a sentence about the lost rows; empty where there are none
};

/// Of the table's `text`, the rows of steps up to `last_step`. A row that was cut short, is out of order or is none of
/// this table counts as lost. Rows of an older Convoy, whose table has fewer columns, are filled up with empty ones.
/// `path` names the table in the sentence.
KeptRows keep_rows(const std::string& path, std::string_view text, const LogColumns& columns, std::int64_t last_step,
                   const ExpectedRows& expected);

struct StepRow {
  std::int64_t step = 0;
  StepMetrics metrics;
  double lr = 0;
  std::optional<std::uint64_t> fingerprint;  ///< not of every step (run.fingerprint_every)
  StepOutcome outcome = StepOutcome::kApplied;
  double seconds = 0;  ///< that it took
};

/// "bad", "overflow": what tables say of a step that was not applied; "" of one that was.
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
  double save_seconds = 0;   ///< ranks waited for checkpoints since the row before: its own is written after it
  double write_seconds = 0;  ///< checkpoints were written while steps went on, likewise
};

/// What the run comes to on data.test, where data.val has chosen its weights.
struct TestResult {
  std::int64_t step = 0;   ///< of the weights
  std::string checkpoint;  ///< that holds them
  StepMetrics metrics;
};

class RunLog {
 public:
  /// What stays of each table: rows up to a step; 0: none.
  struct Keep {
    std::int64_t epochs = 0, steps = 0;
    ExpectedRows expected_epochs = {}, expected_steps = {};
  };

  /// Opens both files of the run directory. Each of `metrics` has columns of its own: train_masked_words_loss,
  /// val_macro_f1. Throws Error naming the file and the system's reason, also where the name is that of something else
  /// than a regular file.
  RunLog(const std::string& directory, const Keep& keep, const MetricList& metrics = {});

  /// A sentence about each table that has lost rows.
  const std::vector<std::string>& losses() const { return losses_; }

  /// The row is in the file once rows have waited for kMaxWaitSeconds. `now` is now_seconds().
  void add_step(const StepRow& row, double now);
  void add_epoch(const EpochRow& row);
  /// Writes test.csv: one row, of the last such result.
  void write_test(const TestResult& result) const;
  /// All rows are in the file, and survive a kill; the disk is not waited for.
  void write_rows();
  /// All rows that write_rows() has given to the system are on the disk: before a checkpoint that covers them appears.
  /// In any thread. Throws Error where the disk is full.
  void sync_rows() const;
  /// Both. Throws Error where the disk is full.
  void flush();

  static constexpr double kMaxWaitSeconds = 3;  ///< with steps of a second, which arrive one later, at most 5 s in all

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
  double first_waiting_seconds_ = 0;  ///< when the oldest row of steps.csv that is not in the file was added; 0: none
};

}  // namespace convoy
