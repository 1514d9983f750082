/// Compares the memory that the ranks are predicted to need with the memory of their nodes and GPUs.
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
  std::vector<MemoryLimit> limits;                ///< limits on the host memory
  std::vector<MemoryLimit> of_device;             ///< limits on the GPU memory; empty if the rank computes on a CPU
  std::vector<ProcessLimit> of_process;           ///< limits on the address space of the process (ulimit -v)
  std::int64_t threads = 1;                       ///< number of all threads that the process will have
  std::int64_t resident = 0;                      ///< resident memory of the process now
  std::int64_t available = 0;                     ///< memory of its node that is available now
  std::int64_t host_bytes = 0, device_bytes = 0;  ///< predicted need of host and GPU memory
};

/// Judges the scarcest pool of memory: a node's, a control group's or a GPU's, which several ranks may share. The
/// finding is kFails if the ranks need more than the pool has, a warning if they need nearly all, or if other processes
/// use what they need. For a limit on the address space it is kFails if the process will exceed it, and a warning if
/// the stacks of its threads may exceed it. `ranks` and `hosts` are by rank.
Finding judge_memory(const std::vector<RankMemory>& ranks, const std::vector<std::string>& hosts);

/// Reports whether the memory suffices. `plan` is set on rank 0 only, and null if no plan exists. `resumes` says that
/// the run resumes from a checkpoint, which all ranks then hold in memory. `threads` is the number of computing threads
/// per rank. `backend` may be null. All ranks of the world call it.
void check_memory(const RunPlan* plan, bool resumes, std::int64_t threads, ops::Backend* backend, Report& report);

}  // namespace convoy::preflight
