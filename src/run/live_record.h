/// Publishes the state of a run while it trains: log.jsonl, ranks.csv, TensorBoard's files, and which ranks are slow.
/// Rank 0 only.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/comm/process_grid.h"
#include "convoy/io/training_state.h"
#include "convoy/schedule/simulator.h"

#include "calibrate/run_layout.h"
#include "run/run_data.h"
#include "run/run_log.h"
#include "step/rank_runtime.h"
#include "telemetry/event_file.h"
#include "telemetry/json_log.h"
#include "telemetry/rank_monitor.h"
#include "telemetry/rank_table.h"
#include "telemetry/slow_ranks.h"

namespace convoy {

struct Parameters;

struct LiveSpec {
  GridShape grid;
  std::vector<std::string> hosts;       ///< by rank
  bool has_sensors = false;             ///< whether GPUs can be measured
  std::string why_no_sensors;           ///< why rank 0's GPU has no sensors; empty if it has
  std::vector<StageTimes> planned;      ///< times of the predicted step, by stage
  std::optional<SlowRanks::Spec> slow;  ///< none if ranks share cores: a slow one may have waited
};

/// Collects the LiveSpec of a run. All ranks of the grid; only rank 0's result is complete.
LiveSpec live_spec(const Parameters& params, const RankRuntime& runtime, const RunLayout& layout,
                   const RankMonitor& monitor);

/// How a run was started.
struct LiveStart {
  std::string version, machine;
  std::int64_t step = 0;  ///< step at which it started
  StepCount steps;
};

class LiveRecord {
 public:
  /// Opens the files. Existing rows stay if RunLog keeps them. From here on the process's warnings become rows, too.
  LiveRecord(const Parameters& params, LiveSpec spec, const RunLog::Keep& keep, const MetricList& metrics);
  /// Records that the run failed, unless add_end() was called.
  ~LiveRecord();
  LiveRecord(const LiveRecord&) = delete;
  LiveRecord& operator=(const LiveRecord&) = delete;

  void add_start(const LiveStart& start);
  void add_step(const StepRow& row, double now);
  void add_epoch(const EpochRow& row);
  /// Training goes back to this state: rows of later steps stay in the files, but no longer count.
  void add_rollback(const io::TrainingState& state);
  /// Records that a checkpoint is complete and has its final name. May be called from any thread.
  void add_checkpoint(std::int64_t step, const std::string& path) const;
  /// Adds what each rank did in an interval, and warns of ranks that have become slow.
  void add_round(const RankRound& round);
  /// `how`: "done", "stopped on request", "ended early".
  void add_end(std::int64_t step, const std::string& how);
  /// Writes all waiting rows to the files.
  void write_rows();

  /// Returns a line for each rank that was slow.
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
  std::atomic<std::int64_t> step_;  ///< latest step; atomic because other threads warn, too
  bool has_ended_ = false;
};

}  // namespace convoy
