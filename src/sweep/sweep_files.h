/// The files of a sweep: its parameters, and a file for each row and round. A sweep that was stopped, or whose rows are
/// separate jobs, is put together from these files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sweep/row_result.h"

namespace convoy {

struct Parameters;

/// Writes a file that other jobs may be writing too. The whole text is written to a file with a name of this process,
/// which is then renamed to `path`. Throws Error with the path if it cannot be written.
void write_shared_text(const std::string& path, const std::string& text);

/// The files DIRECTORY/rows/0003/round-1.json, and .../round-1.started while the row is being measured. Used by rank 0
/// only.
class SweepFiles {
 public:
  /// Makes the directory. Throws RequestError if it holds the rows of other parameters. `job_ranks` is the number of
  /// ranks of a row if the sweep lists neither ranks nor replicas.
  SweepFiles(const std::string& directory, const Parameters& params, std::int64_t job_ranks = 1);

  /// Returns whether the row is still to be measured in that round: not if the round has a result, nor if another round
  /// of the row has failed. A row during which the program ended twice is recorded as failed, because it would probably
  /// end the program again.
  bool wants(std::int64_t row, std::int64_t round);
  /// Records, before a row is measured, that the measurement was started. Throws Error if that cannot be written.
  void begin(std::int64_t row, std::int64_t round);
  /// Records the result of a row. Throws Error if it cannot be written.
  void end(std::int64_t row, std::int64_t round, const RowMeasurement& measured);
  /// Removes the record of begin(), instead of end(), if the sweep was asked to stop: the row was not at fault.
  void abandon(std::int64_t row, std::int64_t round);

  /// Returns the recorded rounds of the row, up to round `num_rounds`. Throws Error if a file is damaged.
  std::vector<RowMeasurement> read(std::int64_t row, std::int64_t num_rounds) const;

  /// Returns the number of results of all rows and rounds.
  std::int64_t num_results() const;

  /// Returns the path of the folder of a row's files.
  std::string folder_of(std::int64_t row) const;

 private:
  std::string directory_;
};

}  // namespace convoy
