/// Saves checkpoints: ranks wait until a copy is made, and the file is written while training continues.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convoy/io/checkpoint.h"

#include "checkpoint/background_writer.h"
#include "checkpoint/snapshot.h"
#include "run/run_record.h"
#include "step/rank_runtime.h"

namespace convoy {

struct Parameters;

struct SaveRequest {
  std::vector<std::string> paths;  ///< files that get the same content, one after the other
  io::TrainingState state;
};

/// A save takes a Snapshot between two steps. The following steps send it to rank 0 piece by piece; a thread of rank 0
/// then encodes, hashes and writes it. Only one save runs at a time: the next one waits for it. A file that cannot be
/// written is a warning, except for the run's last save, which must succeed. Weights that are not finite numbers end
/// the run. With checkpoint.background = false all ranks wait until the file is written, and any failure ends the run.
class CheckpointSaver {
 public:
  /// All arguments outlive the saver. `record` is set on rank 0 from the first save on; a benchmark has none.
  CheckpointSaver(const Parameters& params, const io::ModelMetadata& metadata, RankRuntime& runtime,
                  std::optional<RunRecord>& record);
  CheckpointSaver(const CheckpointSaver&) = delete;
  CheckpointSaver& operator=(const CheckpointSaver&) = delete;

  /// Calls CheckpointKeeper::trust(); only before the first save.
  void trust(const std::string& path) { keeper_.trust(path); }
  /// Saves a checkpoint. All ranks, between steps. Rank 0 has recorded all steps up to this one.
  void save(SaveRequest request);
  /// Continues the save as far as possible without waiting. On any rank, between steps. Throws DivergenceError on rank
  /// 0.
  void go_on();
  /// Waits until the last checkpoint is written, and warns if it could not be written. All ranks.
  void settle();
  /// Waits until the last checkpoint is written. Throws on all ranks if it could not be written.
  void finish();
  /// Rank 0: whether a file is being written, as far as the latest go_on() has seen.
  bool is_writing() const { return gathered_.has_value() || writer_.is_busy(); }
  /// Rank 0: seconds that writing the latest file took.
  double write_seconds() const { return write_seconds_; }

 private:
  bool is_root() const { return runtime_.grid().is_root(); }
  /// Waits for the save before this one. Returns true on rank 0 if a file was still being written.
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

  bool is_saving_ = false;               ///< a save has begun and was not yet waited for; the same on all ranks
  std::optional<SaveRequest> gathered_;  ///< rank 0: what is to be written once all ranks' parts are here
  std::int64_t saved_step_ = 0;          ///< rank 0: step of the latest save
  /// Rank 0: why the latest file was not written, and how many seconds it took.
  std::optional<std::string> failure_;
  double write_seconds_ = 0;
  bool warned_of_delay_ = false;
  std::unique_ptr<Snapshot> snapshot_;  ///< null until the first save
  BackgroundWriter writer_;             ///< last member: its thread ends before what it reads is destroyed
};

}  // namespace convoy
