/// Copies what a checkpoint holds in memory, so that training continues while it is written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "convoy/io/checkpoint.h"
#include "convoy/params/choices.h"

#include "plan/step_plan.h"
#include "step/rank_runtime.h"

namespace convoy {

/// A copy of the training's state. Each rank copies the values that only it keeps (OwnedValues); the subclass sends or
/// writes the copies. Memory is allocated once, and only progress() advances the work.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  /// Copies the state after `step` and before the next one. All ranks; the snapshot before is complete.
  virtual void take(std::int64_t step) = 0;
  /// Advances the work as far as possible without waiting or allocating.
  virtual void progress() = 0;
  /// Whether this rank has no work left; on rank 0, whether all ranks' parts have arrived.
  virtual bool is_complete() const = 0;
  /// Waits until the snapshot is complete. All ranks.
  void finish();
  /// Returns tensors and counters, as gather_checkpoint() would have returned them when the snapshot was taken, or the
  /// files that hold them. Rank 0, in any thread, after completion. Throws Error if a rank could not do its part.
  virtual io::Checkpoint content() const = 0;
  /// Returns the name of a tensor of the model with values that are not finite numbers; empty if all are finite. Rank
  /// 0, in any thread, after completion.
  virtual std::string not_finite() const = 0;

 protected:
  explicit Snapshot(const RankRuntime& runtime) : runtime_(runtime) {}

  const RankRuntime& runtime() const { return runtime_; }

 private:
  const RankRuntime& runtime_;
};

/// Makes the snapshot that checkpoint.files asks for. `directory`: folder of the checkpoints. `runtime` outlives the
/// snapshot. All ranks.
std::unique_ptr<Snapshot> make_snapshot(CheckpointFiles files, const std::string& directory,
                                        const RankRuntime& runtime);

/// Returns the bytes of host memory that a snapshot takes: on rank 0, or on another rank of this stage.
std::int64_t snapshot_bytes(const StepPlan& plan, std::int64_t stage, bool is_root);

}  // namespace convoy
