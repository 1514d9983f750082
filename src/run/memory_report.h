/// The memory that a rank needs: predicted, as far as possible, and measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "step/rank_runtime.h"

namespace convoy {

/// Memory of the host that a rank takes beside its stage's, bytes.
struct HostMemory {
  std::int64_t samples = 0;  ///< read ahead, for training and for an evaluation on the way; on the first stage
  std::int64_t resume = 0;   ///< tensors and the file's bytes, where a checkpoint is resumed; until training begins
  std::int64_t save = 0;     ///< the copies that wait to be sent and written; on rank 0, likewise, tensors and bytes

  std::int64_t total() const { return samples + std::max(resume, save); }
};
/// Predicted size of a checkpoint, in one file or in parts.
std::int64_t checkpoint_bytes(const StepPlan& plan);

HostMemory host_memory(const StepPlan& plan, std::int64_t stage, bool is_root, bool resumed);

/// A row per stage of what its ranks will take, and what that leaves out.
std::string describe_memory(const StepPlan& plan);

/// Of this process; 0 where Linux's /proc does not say.
struct Resident {
  std::int64_t now = 0;    ///< VmRSS
  std::int64_t peak = 0;   ///< VmHWM
  std::int64_t files = 0;  ///< RssFile: of that now, pages of mapped files, which the kernel takes back when it likes
};
Resident resident();
/// The same, and the peak begins again, where Linux allows it.
Resident resident_from_here();

/// What this rank has taken for the runtime: on a CPU the process's peak, less what mapped files (libraries) have come
/// to hold since `before`, which was read before the runtime was made; on a GPU the buffers there.
std::int64_t measured_memory(const RankRuntime& runtime, const Resident& before);

/// What rank 0 says at the end of a run: the prediction for the rank that took most, and what it took. On a CPU the
/// process, less what mapped files (libraries) have come to hold until now: what was resident `before` the runtime was
/// made, the stage's plan with the scratch memory of its operations, and host_memory(), where all ranks have
/// held a checkpoint if the run is `resumed`. On a GPU the buffers there. All ranks of the world; empty elsewhere.
std::string compare_memory(const RankRuntime& runtime, const Resident& before, bool resumed);

}  // namespace convoy
