/// The files of a sweep: its parameters, and a file for each row and round. The table is made from these files, also if
/// the sweep was stopped, or if its rows are separate jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sweep/row_result.h"

namespace convoy {

struct Parameters;

/// Writes a file that other jobs may write at the same time: writes the text to a file with a name of its own, and
/// renames that to `path`. Throws Error with the path if it cannot be written.
void write_shared_text(const std::string& path, const std::string& text);

/// The results of the rows of a sweep, DIRECTORY/rows/0003/round-1.json, and markers of rows that are being measured,
/// round-1.started. Used by rank 0 only.
class SweepFiles {
 public:
  /// Makes the directory. Throws RequestError if it holds the rows of a sweep with other parameters. `job_ranks` is the
  /// number of ranks of a row if the sweep lists neither ranks nor replicas.
  SweepFiles(const std::string& directory, const Parameters& params, std::int64_t job_ranks = 1);

  /// Whether the row must still be measured in this round: the round has no result, and no other round of the row has
  /// failed. If the program ended twice during a row, the row is recorded as failed, because it would probably end the
  /// program again.
  bool wants(std::int64_t row, std::int64_t round);
  /// Records that the measurement of a row starts. Throws Error if that cannot be written.
  void begin(std::int64_t row, std::int64_t round);
  /// Records the result of a row in a round. Throws Error if it cannot be written.
  void end(std::int64_t row, std::int64_t round, const RowMeasurement& measured);
  /// Removes the record of begin(). Called instead of end() if the sweep was stopped by a signal: the row is not the
  /// cause.
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
