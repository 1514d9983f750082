/// What a sweep keeps on disk: its parameters, and a file for each row and round, so that a sweep that was stopped, or
/// whose rows are jobs of their own, is put together from what is there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/params/parameters.h"

#include "sweep/row_result.h"

namespace convoy {

/// Writes a file that other jobs may be writing, too: whole, under a name of this process, which then becomes `path`.
/// Throws Error naming the path.
void write_shared_text(const std::string& path, const std::string& text);

/// DIRECTORY/rows/003/round-1.json, and `.../round-1.started` while it is measured. Used by rank 0.
class SweepFiles {
 public:
  /// Makes the directory. Throws RequestError where it holds the rows of other parameters. `job_ranks` are taken by
  /// rows where neither ranks nor replicas are listed.
  SweepFiles(const std::string& directory, const Parameters& params, std::int64_t job_ranks = 1);

  /// Whether the row is still to be measured in that round; not where it has failed in another one. A row during which
  /// the program ended twice is recorded as failed: it would end this one, too.
  bool wants(std::int64_t row, std::int64_t round);
  /// Before a row is measured. Throws RequestError where another process measures it.
  void begin(std::int64_t row, std::int64_t round);
  void end(std::int64_t row, std::int64_t round, const RowMeasurement& measured);
  /// In place of end(), where the sweep was asked to stop: the row was not at fault.
  void abandon(std::int64_t row, std::int64_t round);

  /// All rounds of the row, up to `num_rounds`, that were measured.
  std::vector<RowMeasurement> read(std::int64_t row, std::int64_t num_rounds) const;

  /// Of all rows and rounds.
  std::int64_t num_results() const;

  std::string folder_of(std::int64_t row) const;

 private:
  std::string directory_;
};

}  // namespace convoy
