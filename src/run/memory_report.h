/// The memory that a rank needs: as it is predicted, and as it was measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "convoy/comm/memory_limits.h"

#include "step/rank_runtime.h"

namespace convoy {

/// Host memory, in bytes, that a rank needs in addition to StageMemory.
struct HostMemory {
  /// On stages that read samples: those read ahead, for training and for an evaluation at the same time, and a small
  /// training set that is kept in memory.
  std::int64_t samples = 0;
  std::int64_t resume = 0;  ///< until training begins: tensors and file of the checkpoint that is resumed
  std::int64_t save = 0;    ///< copies that wait to be sent or written; on rank 0 also the tensors and the file

  std::int64_t total() const { return samples + std::max(resume, save); }
};
/// Returns the predicted size of a checkpoint in bytes, all its files together.
std::int64_t checkpoint_bytes(const StepPlan& plan);

/// Predicts the host memory of rank 0 if `is_root`, otherwise of a rank of this stage. `resumed` says that the run
/// resumes from a checkpoint.
HostMemory host_memory(const StepPlan& plan, std::int64_t stage, bool is_root, bool resumed);

/// Returns a table with a row per stage: the memory that each rank of it needs; then lines about what the rows do not
/// include.
std::string describe_memory(const StepPlan& plan);

/// Returns the bytes of memory that this rank has taken. On a CPU: the peak of the process, without the growth of its
/// mapped files (libraries) since `before`, which was read before the runtime was made. On a GPU: the buffers in its
/// memory.
std::int64_t measured_memory(const RankRuntime& runtime, const Resident& before);

/// Returns a line for the end of a run: the memory of the rank that has taken the most, measured (measured_memory())
/// and predicted. The prediction for a CPU is the sum of: the memory that was resident `before` the runtime was made;
/// the stage's plan; the scratch memory of its operations; host_memory(), with a checkpoint on all ranks if the run was
/// `resumed`. For a GPU it is the stage's plan without the buffers of libraries, plus the scratch memory. All ranks of
/// the world call it; empty except on rank 0.
std::string compare_memory(const RankRuntime& runtime, const Resident& before, bool resumed);

}  // namespace convoy
