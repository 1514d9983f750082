/// The run directory's tables: log.csv, a row an epoch, and steps.csv, a row a step. Rank 0 only.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "train/metrics.h"

namespace convoy {

struct EpochRow {
  std::int64_t epoch = 0, step = 0, samples = 0;
  StepMetrics train;
  std::optional<StepMetrics> test, val;  ///< not in every epoch, and only one of them
  double lr = 0;
  double images_per_second = 0;
  double data_wait_percent = 0;
  double seconds = 0;
};

/// What the run comes to on data.test, where data.val has chosen its weights.
struct TestResult {
  std::int64_t step = 0;   ///< of the weights
  std::string checkpoint;  ///< that holds them
  StepMetrics metrics;
};

class RunLog {
 public:
  /// The last step whose rows stay; 0: none do.
  struct Keep {
    std::int64_t epochs = 0, steps = 0;
  };

  /// Opens both files of the run directory. Throws Error naming the file and the system's reason.
  RunLog(const std::string& directory, const Keep& keep);

  void add_step(std::int64_t step, double loss, double lr);
  void add_epoch(const EpochRow& row);
  /// Writes test.csv: one row, of the last such result.
  void write_test(const TestResult& result) const;
  /// Before a checkpoint: what it covers must be on disk. Throws Error where the disk is full.
  void flush();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Table {
    std::string path;
    std::unique_ptr<std::FILE, Close> file;
  };
  static Table open(const std::string& path, const std::string& header, int step_column, std::int64_t last_step);
  static void check(const Table& table, bool ok);
  static void write_through(const Table& table);

  std::string directory_;
  Table epochs_, steps_;
};

}  // namespace convoy
