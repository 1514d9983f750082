/// The memory that the ranks of a job have, and what a plan needs of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/comm/memory_limits.h"
#include "convoy/ops/backend.h"

#include "plan/step_plan.h"

namespace convoy {

/// The memory that one rank has, and the memory that it is predicted to need, in bytes.
struct RankMemory {
  std::string host;                               ///< name of its node
  std::vector<MemoryLimit> limits;                ///< limits on the host memory
  std::vector<MemoryLimit> of_device;             ///< limits on the GPU memory; empty if the rank computes on a CPU
  std::vector<ProcessLimit> of_process;           ///< limits on the address space of the process (ulimit -v)
  std::int64_t threads = 1;                       ///< number of all threads that the process will have
  std::int64_t resident = 0;                      ///< resident memory of the process now
  std::int64_t available = 0;                     ///< memory of its node that is available now
  std::int64_t scratch = 0;                       ///< what operations take in addition to the plan; 0: not known
  std::int64_t host_bytes = 0, device_bytes = 0;  ///< predicted need of host and GPU memory
};

/// Returns the memory of this process. `threads` is its number of computing threads. `backend` may be null.
RankMemory own_memory(std::int64_t threads, ops::Backend* backend);

/// Returns the memory of all ranks, by rank, on rank 0; empty on other ranks. All ranks of the world call it.
std::vector<RankMemory> gather_memory(const RankMemory& mine, const mpi::Communicator& world);

/// What a run does with checkpoints, all of which are in memory while they are read or written.
enum class CheckpointUse {
  kNone,     ///< only steps, as in a sweep
  kSaves,    ///< begins without a checkpoint, and saves some
  kResumes,  ///< resumes from a checkpoint, which all ranks then hold, and saves others
};

/// Sets what each rank of the plan's grid will need, including what its program holds already. There are as many
/// `ranks` as the grid has.
void predict_needs(const StepPlan& plan, CheckpointUse use, std::vector<RankMemory>& ranks);

/// A limit with all ranks that share it: a node's, a control group's or a GPU's memory.
struct MemoryPool {
  MemoryLimit limit;
  std::string host;
  std::int64_t needed = 0;    ///< bytes that its ranks need
  std::int64_t resident = 0;  ///< bytes of them that the ranks hold already
  std::int64_t num_ranks = 0;
  std::int64_t available = 0;  ///< bytes of the node that no process holds; 0: not known, or a GPU's memory

  double share() const { return static_cast<double>(needed) / static_cast<double>(limit.bytes); }
};

/// Returns the pools of the ranks, with the limit's identity as the key.
std::map<std::string, MemoryPool> memory_pools(const std::vector<RankMemory>& ranks);

/// "n2: 2 ranks need 120.0 MiB of 100.0 MiB (memory of the node)"
std::string describe(const MemoryPool& pool);

}  // namespace convoy
