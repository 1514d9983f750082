/// A copy in memory of what a checkpoint holds, so that steps go on while it is written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "convoy/io/checkpoint.h"
#include "convoy/params/parameters.h"

#include "plan/step_plan.h"
#include "step/rank_runtime.h"

namespace convoy {

/// Each rank copies what it alone keeps (OwnedValues). What then becomes of the copies is the subclass's matter; memory
/// is taken once, and only progress() moves anything on.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  /// Copies, after `step` and before the next one. All ranks; the one before is complete.
  virtual void take(std::int64_t step) = 0;
  /// Does what can be done without waiting or allocating.
  virtual void progress() = 0;
  /// Whether this rank has nothing left to do; on rank 0, whether all ranks' parts have arrived.
  virtual bool is_complete() const = 0;
  /// Waits until it is. All ranks.
  void finish();
  /// Rank 0, complete, in any thread: tensors and counters, as gather_checkpoint() would have returned them when it was
  /// taken, or where they are. Throws Error where a rank could not do its part.
  virtual io::Checkpoint content() const = 0;
  /// Likewise: a tensor of the model with values that are not finite numbers; empty where all are.
  virtual std::string not_finite() const = 0;

 protected:
  explicit Snapshot(const RankRuntime& runtime) : runtime_(runtime) {}

  const RankRuntime& runtime() const { return runtime_; }

 private:
  const RankRuntime& runtime_;
};

/// As checkpoint.files asks. `directory`: of the checkpoints. `runtime` outlives it. All ranks.
std::unique_ptr<Snapshot> make_snapshot(CheckpointFiles files, const std::string& directory,
                                        const RankRuntime& runtime);

/// What a snapshot takes of the host's memory: on rank 0, or on another rank of this stage.
std::int64_t snapshot_bytes(const StepPlan& plan, std::int64_t stage, bool is_root);

}  // namespace convoy
