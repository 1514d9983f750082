/// Implements what both kinds of snapshots have in common.
#include "checkpoint/snapshot.h"

#include <algorithm>

namespace convoy {

// Waits without a limit, as Request::wait() does: the watchdog detects a rank that has died.
void Snapshot::finish() {
  progress();
  if (is_complete()) return;
  runtime().board().wait_for(Wait::kRanks);
  for (mpi::Backoff backoff; !is_complete(); backoff.pause()) progress();
  runtime().board().go_on();
}

std::unique_ptr<Snapshot> make_snapshot(CheckpointFiles files, const std::string& directory,
                                        const TrainingStep& training) {
  return files == CheckpointFiles::kSharded ? make_sharded_snapshot(directory, training)
                                            : make_gathered_snapshot(training);
}

std::int64_t snapshot_bytes(const StepPlan& plan, std::int64_t stage, bool is_root) {
  const std::int64_t kinds = 1 + plan.num_states();
  std::int64_t floats = 0;
  if (is_root && plan.spec().checkpoint.files != CheckpointFiles::kSharded) {
    for (const StagePlan& each : plan.stages()) floats += each.layout.count;
  } else {
    for (std::int64_t r = 0; r < plan.grid().replicas; ++r)
      floats = std::max(floats, shard_of(plan.stages()[stage].layout, r, plan.grid().replicas).count);
  }
  return kinds * floats * kFloatBytes;
}

}  // namespace convoy
