/// Compares the memory that the ranks are predicted to need with the memory of their nodes and GPUs.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/ops/backend.h"

#include "preflight/report.h"
#include "preflight/run_plan.h"
#include "run/rank_memory.h"

namespace convoy::preflight {

/// Judges the scarcest pool of memory: a node's, a control group's or a GPU's, which several ranks may share. The
/// finding is kFails if the ranks need more than the pool has, a warning if they need nearly all, or if other processes
/// use what they need. For a limit on the address space it is kFails if the process will exceed it, and a warning if
/// the stacks of its threads may exceed it. `ranks` are by rank.
Finding judge_memory(const std::vector<RankMemory>& ranks);

/// Reports whether the memory suffices. `plan` is set on rank 0 only, and null if no plan exists. `resumes` says that
/// the run resumes from a checkpoint, which all ranks then hold in memory. `threads` is the number of computing threads
/// per rank. `backend` may be null. All ranks of the world call it.
void check_memory(const RunPlan* plan, bool resumes, std::int64_t threads, ops::Backend* backend, Report& report);

}  // namespace convoy::preflight
