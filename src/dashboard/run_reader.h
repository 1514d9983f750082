/// Reads a run's log.jsonl while another program writes it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

/// The latest row of a rank. Shares are parts of its steps' time; a value below 0 is not known.
struct WatchedRank {
  std::string host;
  std::int64_t replica = 0, stage = 0;
  double step_seconds = 0;
  double busy = -1, bubble = -1, straggler = -1, communication = -1, data = -1;
  std::int64_t resident_bytes = 0, device_bytes = 0;
  double gpu_utilisation = -1, gpu_celsius = -1;
};

struct Warning {
  double time = 0;  ///< seconds since 1970
  std::string text;
};

/// What a run has logged so far.
struct WatchedRun {
  // The latest start
  bool has_started = false;
  std::string version, command, machine;
  std::int64_t replicas = 1, stages = 1, total_steps = 0, steps_per_epoch = 1, batch = 0, first_step = 0;
  double start_time = 0;
  // The steps
  std::int64_t step = 0;
  double learning_rate = 0;
  std::vector<double> losses, accuracies, step_seconds, step_times;  ///< by step; times in seconds since 1970
  // The evaluations
  std::string metric = "top1";                           ///< train.metric; logs older than that key use top-1
  std::string measured;                                  ///< "test" or "val"; empty: not measured yet
  std::map<std::string, std::vector<double>> evaluated;  ///< by column ("val_macro_f1"): a value per epoch

  /// Returns the column of `metric` on the split `measured`: "val_macro_f1".
  std::string measured_column() const { return measured + "_" + metric; }
  // The ranks and the warnings
  std::map<std::int64_t, WatchedRank> ranks;
  std::deque<Warning> warnings;  ///< the last kMaxWarnings
  // The end
  std::string ended;     ///< "done", "failed", ...; empty: it has not ended, or could not log its end
  double last_time = 0;  ///< time of the latest row, in seconds since 1970

  static constexpr std::size_t kMaxWarnings = 3;
};

/// Adds a line of log.jsonl to `run`. A line that is not a JSON object, or has an unknown kind, is ignored.
void add_row(std::string_view line, WatchedRun& run);

/// Follows the log of the run in a directory.
class RunReader {
 public:
  explicit RunReader(const std::string& directory);

  /// Reads what has been written since the last call; all of it if the file has been replaced. Returns false if the
  /// directory has no log.jsonl.
  bool update();
  const WatchedRun& run() const { return run_; }

 private:
  std::string directory_;
  std::uint64_t file_number_ = 0;
  std::int64_t offset_ = 0;
  WatchedRun run_;
};

}  // namespace convoy
