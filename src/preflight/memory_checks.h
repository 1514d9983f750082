/// Predicted memory of the ranks against what their nodes and devices have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/comm/memory_limits.h"
#include "convoy/ops/backend.h"

#include "preflight/report.h"
#include "preflight/run_plan.h"

namespace convoy::preflight {

/// One rank: what it has, and what it is predicted to need.
struct RankMemory {
  std::vector<MemoryLimit> limits;                ///< of the host
  std::vector<MemoryLimit> of_device;             ///< none where the host computes
  std::vector<ProcessLimit> of_process;           ///< ulimit -v
  std::int64_t threads = 1;                       ///< that it will have, and with which it computes
  std::int64_t resident = 0;                      ///< of the process now
  std::int64_t available = 0;                     ///< of its node
  std::int64_t host_bytes = 0, device_bytes = 0;  ///< needed
};

/// The tightest of all pools, with the ranks that share it; every rank of a pool counts. Fails where they need more
/// than there is; a warning where that is nearly so, or where other processes use what they need. A limit on a
/// process's address space fails where the process cannot keep it, and is a warning where the reserves of its threads
/// may exceed it.
Finding judge_memory(const std::vector<RankMemory>& ranks, const std::vector<std::string>& hosts);

/// `backend` may be null; so may `plan`, on rank 0 where there is none and on all others. `resumes`: a checkpoint,
/// which all ranks then hold. All ranks.
void check_memory(const RunPlan* plan, bool resumes, std::int64_t threads, ops::Backend* backend, Report& report);

}  // namespace convoy::preflight
