/// Saves checkpoints. Ranks wait only until a copy is made; the file is written while training continues.
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
#include "step/training_step.h"

namespace convoy {

struct Parameters;

/// A checkpoint to save.
struct SaveRequest {
  std::vector<std::string> paths;  ///< files to write, all with the same content
  io::TrainingState state;
};

/// Saves the checkpoints of a run. A save takes a Snapshot between two steps. During the following steps the snapshot
/// is sent to rank 0 in pieces; then a thread of rank 0 encodes and writes it. Only one save runs at a time: the next
/// one waits for it. If a file cannot be written, a warning is printed, but the last save of a run must succeed. If
/// weights are infinite or NaN, the run ends. With checkpoint.background = false all ranks wait until the file is
/// written, and any failure ends the run.
class CheckpointSaver {
 public:
  /// All arguments must outlive the saver. `record` is set on rank 0 from the first save on; a benchmark has none. All
  /// ranks of the grid call it.
  CheckpointSaver(const Parameters& params, const io::ModelMetadata& metadata, TrainingStep& training,
                  std::optional<RunRecord>& record);
  CheckpointSaver(const CheckpointSaver&) = delete;
  CheckpointSaver& operator=(const CheckpointSaver&) = delete;

  /// Tells the saver that the checkpoint at `path` is intact: older ones may be removed. Called only before the first
  /// save.
  void trust(const std::string& path) { keeper_.trust(path); }
  /// Saves a checkpoint. All ranks of the grid call it, between steps, when rank 0 has recorded all steps up to this
  /// one. Throws Error on all ranks if weights of the previous save were infinite or NaN; with checkpoint.background =
  /// false, also if this save fails.
  void save(SaveRequest request);
  /// Advances the save as far as possible without waiting. Any rank may call it, between steps. Rank 0 warns if the
  /// file could not be written, and throws DivergenceError if weights are infinite or NaN.
  void go_on();
  /// Waits until the last checkpoint is written, and warns if it could not be written. Throws Error on all ranks if its
  /// weights were infinite or NaN. All ranks of the grid call it.
  void settle();
  /// Waits until the last checkpoint is written. Throws Error on all ranks if it could not be written. All ranks of the
  /// grid call it.
  void finish();
  /// On rank 0: whether a file is still to be written, as of the latest go_on().
  bool is_writing() const { return gathered_.has_value() || writer_.is_busy(); }
  /// On rank 0: time in seconds that writing the latest file took.
  double write_seconds() const { return write_seconds_; }

 private:
  bool is_root() const { return runtime_.grid().is_root(); }
  /// Waits for the previous save. Returns true on rank 0 if its file was still being written.
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
  TrainingStep& training_;
  RankRuntime& runtime_;
  std::optional<RunRecord>& record_;
  io::CheckpointKeeper keeper_;  ///< removes old checkpoints; used on rank 0, by one thread at a time

  bool is_saving_ = false;  ///< whether a save has begun that was not yet waited for; the same on all ranks
  std::optional<SaveRequest> gathered_;  ///< on rank 0: the save whose parts have not all arrived yet
  std::int64_t saved_step_ = 0;          ///< on rank 0: step of the latest save
  std::optional<std::string> failure_;   ///< on rank 0: why the latest file was not written; empty: it was
  double write_seconds_ = 0;             ///< on rank 0: time that writing the latest file took
  bool warned_of_delay_ = false;
  std::unique_ptr<Snapshot> snapshot_;  ///< null until the first save
  BackgroundWriter writer_;  ///< the last member: its thread ends before the members that it reads are destroyed
};

}  // namespace convoy
