/// What a run has written down of itself: steps.csv, read back, and starts.csv, a row for each time that it was
/// started.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace convoy {

/// A row of steps.csv or of log.csv, as it is written.
struct RecordedRow {
  std::int64_t step = 0;
  std::map<std::string, std::string> metrics;  ///< by column ("loss", "val_macro_f1"); what is empty has no entry
  std::string fingerprint;                     ///< of steps.csv; empty: none of this step
};

/// Steps in their order, whose values have 17 digits, which say all bits; empty where there is no steps.csv. Rows that
/// were cut short are left out. Throws Error where the file cannot be read, or has no column of losses.
std::vector<RecordedRow> read_steps(const std::string& run_directory);
/// What is wrong with rows that should be of the steps from `first` to `last`, each once and in this order; empty if
/// nothing: "it has no row of step 5 to 8 and several of step 3: it was changed, or rows were lost".
std::string describe_faulty_rows(const std::vector<RecordedRow>& rows, std::int64_t first, std::int64_t last);
/// Epochs in the same form, whose values have 9 digits; empty if there is no log.csv.
std::vector<RecordedRow> read_epochs(const std::string& run_directory);

struct RunStart {
  std::int64_t step = 0;  ///< that the run was at
  std::string version;    ///< of Convoy
  std::string grid;       ///< "2 x 4": replicas x stages
  std::string machine;
  std::string changed = {};  ///< "train.epochs 1 -> 2", as changes_since() says it; empty: nothing, or not known
};

/// Appends a row to starts.csv; rows of older versions get the column that they lack. Throws Error where the disk is
/// full.
void add_start(const std::string& run_directory, const RunStart& start);
/// In their order; empty where there is no starts.csv.
std::vector<RunStart> read_starts(const std::string& run_directory);

}  // namespace convoy
