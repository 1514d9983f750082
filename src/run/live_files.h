/// Publishes the state of a run while it trains: log.jsonl, ranks.csv, TensorBoard's files, and warnings of slow ranks.
/// Used by rank 0 only.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/io/training_state.h"
#include "convoy/schedule/simulator.h"

#include "run/run_data.h"
#include "run/run_log.h"
#include "run/training_setup.h"
#include "telemetry/event_file.h"
#include "telemetry/json_log.h"
#include "telemetry/rank_monitor.h"
#include "telemetry/rank_table.h"
#include "telemetry/slow_ranks.h"

namespace convoy {

/// What the LiveFiles need to know about the ranks.
struct LiveSpec {
  GridShape grid;
  std::vector<std::string> hosts;   ///< by rank: name of its host
  bool has_sensors = false;         ///< whether at least one rank can read the sensors of its GPU
  std::string why_no_sensors;       ///< why rank 0 cannot read the sensors of its GPU; empty if it can, or has no GPU
  std::vector<StageTimes> planned;  ///< times of the predicted step, by stage
  std::optional<SlowRanks::Spec> slow;  ///< empty if ranks share cores: then a slow rank may have waited for a core
};

/// Collects the LiveSpec of a run. All ranks of the grid call it; only rank 0's result is complete.
LiveSpec live_spec(const TrainingSetup& setup, const RankMonitor& monitor);

/// A start of a run, as log.jsonl records it.
struct LiveStart {
  std::string version, machine;  ///< version of Convoy; hosts and device
  std::int64_t step = 0;         ///< number of steps that were done before
  StepCount steps;
};

/// Writes the files that show a run while it trains. All members that write throw Error if they cannot; only
/// add_start(), add_checkpoint() and the destructor ignore it.
class LiveFiles {
 public:
  /// Opens the files of the run directory, and keeps the existing rows that `keep` names. From here on, warnings of
  /// this process also become rows of log.jsonl.
  LiveFiles(const Parameters& params, LiveSpec spec, const RunLog::Keep& keep, const MetricList& metrics);
  /// Records that the run failed, unless add_end() was called.
  ~LiveFiles();
  LiveFiles(const LiveFiles&) = delete;
  LiveFiles& operator=(const LiveFiles&) = delete;

  void add_start(const LiveStart& start);
  void add_step(const StepRow& row, double now);
  void add_epoch(const EpochRow& row);
  /// Records that training continues from this earlier state. Rows of later steps stay in the files but no longer
  /// count.
  void add_rollback(const io::TrainingState& state);
  /// Records that a checkpoint is complete under its final name. Any thread may call it.
  void add_checkpoint(std::int64_t step, const std::string& path) const;
  /// Adds the measurements of all ranks in an interval, and warns of ranks that have become slow.
  void add_samples(const RankSamples& samples);
  /// Records the end of the run after step number `step`. `how` is "done", "stopped on request", "stopped by an audit",
  /// "ended early" or "failed".
  void add_end(std::int64_t step, const std::string& how);
  /// Writes all waiting rows to the files.
  void write_rows();

  /// Returns a line for each rank that was found slow during the run.
  std::vector<std::string> describe_slow_ranks() const;

 private:
  std::string describe(const SlowRank& slow) const;
  void add_scalars(std::int64_t step, double time, const std::vector<Scalar>& scalars, double now);

  const Parameters& params_;
  LiveSpec spec_;
  MetricList metrics_;
  JsonLog log_;
  RankTable ranks_;
  std::optional<EventFile> events_;
  std::optional<SlowRanks> slow_;
  std::atomic<std::int64_t> step_;  ///< number of the latest step; atomic because warnings of other threads read it
  bool has_ended_ = false;
};

}  // namespace convoy
