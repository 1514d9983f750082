/// Compares the predicted memory of the ranks with that of their nodes and devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/comm/memory_limits.h"
#include "convoy/ops/backend.h"

#include "preflight/report.h"
#include "preflight/run_plan.h"

namespace convoy::preflight {

/// The memory that one rank has, and the memory that it is predicted to need, in bytes.
struct RankMemory {
  std::vector<MemoryLimit> limits;                ///< limits of the host's memory
  std::vector<MemoryLimit> of_device;             ///< limits of the GPU's memory; none if the host computes
  std::vector<ProcessLimit> of_process;           ///< limits of the process's address space: ulimit -v
  std::int64_t threads = 1;                       ///< all threads that the process will have
  std::int64_t resident = 0;                      ///< memory that the process holds now
  std::int64_t available = 0;                     ///< available memory of its node
  std::int64_t host_bytes = 0, device_bytes = 0;  ///< predicted need
};

/// Judges the tightest of all pools of memory, which the ranks of a pool share. It fails if they need more than the
/// pool has; it is a warning if they need nearly all, or if other processes use what they need. A limit on a process's
/// address space fails if the process will exceed it; it is a warning if the reserves of its threads may exceed it.
Finding judge_memory(const std::vector<RankMemory>& ranks, const std::vector<std::string>& hosts);

/// Reports whether the memory suffices. `backend` may be null; `plan` is null on all ranks but 0, and on rank 0 if no
/// plan exists. `threads`: those with which a rank computes. `resumes`: the run resumes from a checkpoint, which all
/// ranks then hold in memory. All ranks call it.
void check_memory(const RunPlan* plan, bool resumes, std::int64_t threads, ops::Backend* backend, Report& report);

}  // namespace convoy::preflight
