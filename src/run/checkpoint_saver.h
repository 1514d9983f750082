/// Saves checkpoints: ranks wait until a copy is made, and the file is written while steps go on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convoy/io/checkpoint.h"
#include "convoy/params/parameters.h"

#include "checkpoint/background_writer.h"
#include "checkpoint/snapshot.h"
#include "run/run_record.h"
#include "step/rank_runtime.h"

namespace convoy {

struct SaveRequest {
  std::vector<std::string> paths;  ///< files that get the same content, one after the other
  io::TrainingState state;
};

/// A save takes a Snapshot between two steps. The steps move it on, rank 0's thread then encodes, hashes and writes.
/// There is one at a time: the next save waits for it. What goes wrong with a file is a warning, the run's last save
/// must succeed; weights that are not finite numbers end the run. With checkpoint.background = false all ranks wait
/// until the file is written, and any failure ends the run.
class CheckpointSaver {
 public:
  /// All outlive it. `record`: of rank 0, which has it from the first save on; a benchmark has none.
  CheckpointSaver(const Parameters& params, const io::ModelMetadata& metadata, RankRuntime& runtime,
                  std::optional<RunRecord>& record);
  CheckpointSaver(const CheckpointSaver&) = delete;
  CheckpointSaver& operator=(const CheckpointSaver&) = delete;

  /// As CheckpointKeeper::trust(); before the first save.
  void trust(const std::string& path) { keeper_.trust(path); }
  /// All ranks, between steps. Rank 0 has recorded all steps up to this one.
  void save(SaveRequest request);
  /// Between steps, on any rank: does what can be done without waiting. Throws DivergenceError on rank 0.
  void go_on();
  /// All ranks: waits until the last checkpoint is written, and warns where it could not be.
  void settle();
  /// The same; throws on all ranks where it could not be.
  void finish();
  /// Rank 0: whether a file is on its way, as far as go_on() has seen.
  bool is_writing() const { return gathered_.has_value() || writer_.is_busy(); }
  /// Rank 0: how long the latest file took.
  double write_seconds() const { return write_seconds_; }

 private:
  bool is_root() const { return runtime_.grid().is_root(); }
  /// True on rank 0 where a file was still being written.
  bool await_previous();
  void hand_over();
  void take_result();
  void warn_of_failure();
  void warn_of_delay(double seconds, std::int64_t step);
  std::int64_t bound_of_kept(const LossRange& range, std::int64_t step) const;
  void write_snapshot(const SaveRequest& request);
  void write(const SaveRequest& request, const std::string& not_finite, io::Checkpoint checkpoint);

  const Parameters& params_;
  const io::ModelMetadata& metadata_;
  RankRuntime& runtime_;
  std::optional<RunRecord>& record_;
  io::CheckpointKeeper keeper_;  ///< used by rank 0, by one thread at a time

  bool is_saving_ = false;               ///< all ranks alike: a save has begun and nobody has waited for its end
  std::optional<SaveRequest> gathered_;  ///< rank 0: what is to be written once all ranks' parts are here
  std::int64_t saved_step_ = 0;          ///< rank 0: of the latest save
  /// Rank 0, of the latest file: why it is not there, and how long it took.
  std::optional<std::string> failure_;
  double write_seconds_ = 0;
  bool warned_of_delay_ = false;
  std::unique_ptr<Snapshot> snapshot_;  ///< from the first save on
  BackgroundWriter writer_;             ///< last: it ends before what it reads
};

}  // namespace convoy
