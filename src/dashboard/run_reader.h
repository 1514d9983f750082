/// Reads a run's log.jsonl while the run still writes it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

/// The latest row of a rank. Shares are fractions of the time of its steps; a negative value is not known.
struct WatchedRank {
  std::string host;
  std::int64_t replica = 0, stage = 0;
  double step_seconds = 0;  ///< mean duration of a step
  double busy = -1, bubble = -1, straggler = -1, communication = -1, data = -1;
  std::int64_t resident_bytes = 0, device_bytes = 0;
  double gpu_utilisation = -1, gpu_celsius = -1;  ///< in percent, in degrees Celsius; negative: not known
};

/// A warning that the run has printed.
struct Warning {
  double time = 0;  ///< time of the warning, in seconds since 1970
  std::string text;
};

/// What a run has logged so far.
struct WatchedRun {
  // The latest start
  bool has_started = false;
  std::string version, command, machine;
  std::int64_t replicas = 1, stages = 1, total_steps = 0, steps_per_epoch = 1, batch = 0, first_step = 0;
  double start_time = 0;  ///< in seconds since 1970
  // The steps
  std::int64_t step = 0;
  double learning_rate = 0;
  /// By step: loss, top-1 from 0 to 1 (NaN if the network has none), duration in seconds, and time in seconds since
  /// 1970.
  std::vector<double> losses, accuracies, step_seconds, step_times;
  // The evaluations
  std::string metric = "top1";  ///< train.metric; older logs do not have it and use top-1
  std::string measured;         ///< data set of the evaluations: "test" or "val"; empty: there was none yet
  /// The values of the evaluations, by column ("val_macro_f1"), then by the step after which they were made.
  std::map<std::string, std::map<std::int64_t, double>> evaluated;

  /// Returns the column of `evaluated` with train.metric: "val_macro_f1".
  std::string measured_column() const { return measured + "_" + metric; }
  // The ranks and the warnings
  std::map<std::int64_t, WatchedRank> ranks;
  std::deque<Warning> warnings;  ///< the latest kMaxWarnings, the oldest first
  // The end
  std::string ended;  ///< how the run ended: "done", "failed", ...; empty: it has not ended, or could not log its end
  double last_time = 0;  ///< time of the latest row, in seconds since 1970

  static constexpr std::size_t kMaxWarnings = 3;
};

/// Adds a line of log.jsonl to `run`. A line that is not a JSON object, or has an unknown kind, is ignored.
void add_row(std::string_view line, WatchedRun& run);

/// Follows log.jsonl in a run directory.
class RunReader {
 public:
  explicit RunReader(const std::string& directory);

  /// Reads the rows that were written since the last call, or all rows if the file was replaced. Returns false if the
  /// directory has no log.jsonl.
  bool update();
  /// What was read so far.
  const WatchedRun& run() const { return run_; }

 private:
  std::string directory_;
  std::uint64_t file_number_ = 0;  ///< inode number of the file that was read last
  std::int64_t offset_ = 0;        ///< number of bytes of it that were read
  WatchedRun run_;
};

}  // namespace convoy
