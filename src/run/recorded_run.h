/// Reads back what a run has recorded: steps.csv, log.csv, and starts.csv, which has a row for each start.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace convoy {

/// A row of steps.csv or of log.csv, as it is written.
struct RecordedRow {
  std::int64_t step = 0;
  std::map<std::string, std::string> metrics;  ///< by column ("loss", "val_macro_f1"); empty fields have no entry
  std::string fingerprint;                     ///< column of steps.csv; empty: none for this step
};

/// Reads steps.csv in the order of steps; empty if there is no such file. Values have 17 digits, which determine all
/// bits. Rows that were cut short are left out. Throws Error if the file cannot be read, or has no column of losses.
std::vector<RecordedRow> read_steps(const std::string& run_directory);
/// Describes what is wrong with rows that should be of the steps from `first` to `last`, each once and in this order:
/// "it has no row of step 5 to 8 and several of step 3: it was changed, or rows were lost". Empty if nothing is wrong.
std::string describe_faulty_rows(const std::vector<RecordedRow>& rows, std::int64_t first, std::int64_t last);
/// Reads log.csv: rows of epochs, with values of 9 digits; empty if there is no such file.
std::vector<RecordedRow> read_epochs(const std::string& run_directory);

struct RunStart {
  std::int64_t step = 0;  ///< step at which the run started
  std::string version;    ///< of Convoy
  std::string grid;       ///< "2 x 4": replicas x stages
  std::string machine;
  std::string changed = {};  ///< "train.epochs 1 -> 2", as changes_since() says it; empty: nothing, or not known
};

/// Appends a row to starts.csv; rows of older versions get the column that they lack. Throws Error if the disk is full.
void add_start(const std::string& run_directory, const RunStart& start);
/// Reads starts.csv in its order; empty if there is no such file.
std::vector<RunStart> read_starts(const std::string& run_directory);

}  // namespace convoy
