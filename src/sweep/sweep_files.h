/// The files of a sweep: its parameters, and a file for each row and round. The table is made from these files, also if
/// the sweep was stopped, or if its rows are separate jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/schedule/timeline.h"

namespace convoy {

/// The measurement of a row in one round.
struct RowMeasurement {
  std::string failure;  ///< why the measurement failed; then the other members mean nothing. Empty: it succeeded
  std::int64_t stages = 0, replicas = 0;
  std::int64_t batch_global = 0, batch_micro = 0;  ///< samples of a step, and of a micro-batch
  std::int64_t num_samples = 0;                    ///< number of samples of the data set
  std::int64_t num_parameters = 0;                 ///< number of parameters of the network
  std::int64_t output_bytes = 0;                   ///< size of the network's outputs for a step, as float32
  double step_seconds = 0;                ///< training: median duration of the round's steps; prediction: their mean
  double predicted_seconds = 0;           ///< duration of a step as the planner predicts it; 0: not predicted
  std::optional<TimeShares> shares = {};  ///< how the time of all ranks was spent; only in trainings
  std::vector<double> busy_of_ranks;      ///< by rank: share of the time in which it did not wait; only in trainings
  std::vector<std::int64_t> memory_bytes_of_ranks;  ///< by rank

  std::int64_t max_memory_bytes() const;
};

/// The measurements of a row over all rounds.
struct RowResult {
  std::string failure;          ///< failure of the first round that failed; empty: none failed
  std::int64_t num_rounds = 0;  ///< number of rounds with a measurement; 0 if a round failed
  double min_step_seconds = 0, max_step_seconds = 0;
  /// The round with the median step. If the number of rounds is even, the duration of a step is the mean of the two
  /// rounds in the middle, and everything else is that of the faster one. The memory of each rank is the most over all
  /// rounds.
  RowMeasurement median;
};

/// Combines the measurements of a row from several rounds.
RowResult summarise(const std::vector<RowMeasurement>& rounds);

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
  /// Writes a marker that the measurement of a row starts. Throws Error if that cannot be written.
  void begin(std::int64_t row, std::int64_t round);
  /// Records the result of a row in a round. Throws Error if it cannot be written.
  void end(std::int64_t row, std::int64_t round, const RowMeasurement& measured);
  /// Removes the marker of begin(). Called instead of end() if the sweep was stopped by a signal: the row is not the
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
