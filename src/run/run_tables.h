/// Reads the files of a run that say what it has done: params.cfg, steps.csv, log.csv, test.csv, and starts.csv, which
/// has a row for each start.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convoy/base/metrics.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// A row of steps.csv or log.csv. Values are texts, as they are written in the file.
struct MetricsRow {
  std::int64_t step = 0;
  std::map<std::string, std::string> metrics;  ///< by column ("loss", "val_macro_f1"); an empty field has no entry
  std::string fingerprint;  ///< fingerprint of the weights after the step, from steps.csv; empty: none was taken
};

/// Reads steps.csv in the order of steps; empty if the file does not exist. Values have 17 digits, which determine all
/// bits. Incomplete rows are left out. Throws Error if the file cannot be read, or has no column of losses.
std::vector<MetricsRow> read_steps(const std::string& run_directory);
/// Checks that rows are those of the steps from `first` to `last`, each once and in this order. Returns what is wrong:
/// "it has no row of step 5 to 8 and several of step 3: it was changed, or rows were lost". Empty if nothing is wrong.
std::string describe_faulty_rows(const std::vector<MetricsRow>& rows, std::int64_t first, std::int64_t last);
/// Reads log.csv, a row per epoch with values of 9 digits; empty if the file does not exist.
std::vector<MetricsRow> read_epochs(const std::string& run_directory);

/// Reads test.csv, the latest result on data.test of a run that has data.val, too; nothing if the file does not exist.
std::optional<MetricsRow> read_test(const std::string& run_directory);

/// The epoch with the best value of the metric that a run follows.
struct BestEpoch {
  MetricsRow row;
  std::string split;   ///< the split that epochs are measured on, as its columns begin: "val_" or "test_"
  std::string column;  ///< column of the metric: "val_top1"
};

/// Finds the best of the epochs, of equal ones that with the lowest loss; nothing if none has a finite value of the
/// metric. `kind` is train.metric of the run;
/// nothing (auto): the first of kUsualMetrics that the epochs have.
std::optional<BestEpoch> find_best_epoch(const std::vector<MetricsRow>& epochs, std::optional<MetricKind> kind);

/// Reads params.cfg; nothing if the file does not exist.
std::optional<Parameters> read_parameters(const std::string& run_directory);

/// A row of starts.csv: a start of the run.
struct RunStart {
  std::int64_t step = 0;  ///< number of steps that were done before the start
  std::string version;    ///< version of Convoy
  std::string grid;       ///< "2 x 4": replicas x stages
  std::string machine;
  /// Result of changes_since(): "train.epochs 1 -> 2"; empty: nothing has changed, or not known.
  std::string changed = {};
};

/// Appends a row to starts.csv. Rows of older versions get the column that they lack. Throws Error if the disk is full.
void add_start(const std::string& run_directory, const RunStart& start);
/// Reads starts.csv in the order of its rows; empty if the file does not exist.
std::vector<RunStart> read_starts(const std::string& run_directory);

}  // namespace convoy
