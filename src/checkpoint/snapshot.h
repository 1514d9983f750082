/// Copies the training state in memory, so that training continues while a checkpoint is written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "convoy/io/checkpoint.h"
#include "convoy/params/choices.h"

#include "plan/step_plan.h"
#include "step/training_step.h"

namespace convoy {

/// A copy of the training state. Each rank copies the values that only it keeps (OwnedValues); the subclass sends the
/// copies to rank 0 or writes them. Memory is allocated once. Only progress() and finish() advance the work.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  /// Copies the state after step number `step`, before the next step. All ranks of the grid call it; the previous
  /// snapshot must be complete.
  virtual void take(std::int64_t step) = 0;
  /// Advances the work as far as possible without waiting or allocating memory.
  virtual void progress() = 0;
  /// Whether this rank has no work left; on rank 0, whether the parts of all ranks have arrived.
  virtual bool is_complete() const = 0;
  /// Waits until the snapshot is complete. All ranks of the grid call it.
  void finish();
  /// Returns the tensors and counters that gather_checkpoint() would have returned at take(), or the list of the files
  /// that hold them. Called on rank 0 when the snapshot is complete, in any thread. Throws Error if a rank could not
  /// write its file.
  virtual io::Checkpoint content() const = 0;
  /// Returns the name of a parameter tensor that has infinities or NaN; empty if all values are finite. Called on rank
  /// 0 when the snapshot is complete, in any thread.
  virtual std::string not_finite() const = 0;

 protected:
  explicit Snapshot(const TrainingStep& training) : training_(training) {}

  const TrainingStep& training() const { return training_; }
  const RankRuntime& runtime() const { return training_.runtime(); }

 private:
  const TrainingStep& training_;
};

/// Makes the snapshot for this value of checkpoint.files. `directory` is the folder of the checkpoints. `training` must
/// outlive the snapshot. All ranks of the grid call it.
std::unique_ptr<Snapshot> make_snapshot(CheckpointFiles files, const std::string& directory,
                                        const TrainingStep& training);

/// The snapshot for checkpoint.files = one: rank 0 receives the copies of all ranks into its host memory.
std::unique_ptr<Snapshot> make_gathered_snapshot(const TrainingStep& training);
/// The snapshot for checkpoint.files = sharded: each rank writes its copy to a file of its own.
std::unique_ptr<Snapshot> make_sharded_snapshot(const std::string& directory, const TrainingStep& training);

/// Returns the bytes of host memory that a snapshot takes: on rank 0 if `is_root`, otherwise on a rank of this stage.
std::int64_t snapshot_bytes(const StepPlan& plan, std::int64_t stage, bool is_root);

}  // namespace convoy
