/// The memory that a rank needs: predicted, as far as possible, and measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "step/rank_runtime.h"

namespace convoy {

/// Host memory, in bytes, that a rank needs in addition to its stage's memory.
struct HostMemory {
  std::int64_t samples = 0;  ///< samples read ahead, for training and for an evaluation meanwhile; on the first stage
  std::int64_t resume = 0;   ///< tensors and file of the checkpoint that is resumed; until training begins
  std::int64_t save = 0;     ///< copies that wait to be sent or written; on rank 0 also the tensors and the file

  std::int64_t total() const { return samples + std::max(resume, save); }
};
/// Predicted bytes of a checkpoint, in one file or in parts.
std::int64_t checkpoint_bytes(const StepPlan& plan);

HostMemory host_memory(const StepPlan& plan, std::int64_t stage, bool is_root, bool resumed);

/// Returns a table with a row per stage: the memory that each of its ranks needs, then lines on what the rows leave
/// out.
std::string describe_memory(const StepPlan& plan);

/// Resident memory of this process in bytes; 0 if Linux's /proc does not tell.
struct Resident {
  std::int64_t now = 0;    ///< VmRSS
  std::int64_t peak = 0;   ///< VmHWM
  std::int64_t files = 0;  ///< RssFile: part of `now` that is pages of mapped files; the kernel can take them back
};
Resident resident();
/// Returns resident() after the peak was reset to the present value, if Linux allows it.
Resident resident_from_here();

/// Returns the bytes that this rank has taken for the runtime. On a CPU: the process's peak, less the growth of its
/// mapped files (libraries) since `before`, which was read before the runtime was made. On a GPU: the buffers on it.
std::int64_t measured_memory(const RankRuntime& runtime, const Resident& before);

/// Returns what rank 0 prints at the end of a run: the memory of the rank that took most, measured and predicted.
/// Measured is measured_memory(). The prediction for a CPU is the sum of: what was resident `before` the runtime was
/// made; the stage's plan and the scratch memory of its operations; host_memory(), in which all ranks have held a
/// checkpoint if the run is `resumed`. For a GPU it is the stage's plan without the buffers of libraries, and the
/// scratch memory. All ranks of the world; empty on the other ranks.
std::string compare_memory(const RankRuntime& runtime, const Resident& before, bool resumed);

}  // namespace convoy
