/// Follows a run's log.jsonl while another program writes it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

/// The latest row of a rank. Shares are of its steps; below 0: not known.
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

/// What a run has said of itself so far.
struct WatchedRun {
  // Its latest start
  bool has_started = false;
  std::string version, command, machine;
  std::int64_t replicas = 1, stages = 1, total_steps = 0, steps_per_epoch = 1, batch = 0, first_step = 0;
  double start_time = 0;
  // Its steps
  std::int64_t step = 0;
  double learning_rate = 0;
  std::vector<double> losses, accuracies, step_seconds, step_times;  ///< by step; times in seconds since 1970
  // Its evaluations
  std::string metric = "top1";                           ///< train.metric; logs older than that key are of top-1
  std::string measured;                                  ///< "test" or "val"; empty: not measured yet
  std::map<std::string, std::vector<double>> evaluated;  ///< by column ("val_macro_f1"): a value per epoch

  /// The column of `metric` on `measured`: "val_macro_f1".
  std::string measured_column() const { return measured + "_" + metric; }
  // Its ranks, and what they warn of
  std::map<std::int64_t, WatchedRank> ranks;
  std::deque<Warning> warnings;  ///< the last kMaxWarnings
  // Its end
  std::string ended;     ///< "done", "failed", ...; empty: it has not ended, or could not say so
  double last_time = 0;  ///< of its latest row

  static constexpr std::size_t kMaxWarnings = 3;
};

/// Adds a line of log.jsonl; one that is none, or of an unknown kind, changes nothing.
void add_row(std::string_view line, WatchedRun& run);

class RunReader {
 public:
  explicit RunReader(const std::string& directory);

  /// Reads what has been written since; from the beginning where the file is another one. False where there is none.
  bool update();
  const WatchedRun& run() const { return run_; }
  /// Whether a process holds the run's lock; nothing where the file system does not tell.
  std::optional<bool> is_locked() const;

 private:
  std::string directory_;
  std::uint64_t file_number_ = 0;
  std::int64_t offset_ = 0;
  WatchedRun run_;
};

}  // namespace convoy
