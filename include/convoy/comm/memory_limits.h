/// What limits the memory of this process: its node, the control groups that it is in, Slurm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

/// A limit on the memory that several processes share.
struct MemoryLimit {
  std::string pool;  ///< the same for all processes that share it: "node17 /slurm/job_12"
  std::string what;  ///< "memory of the node", "limit of the control group /slurm/job_12"
  std::int64_t bytes = 0;

  bool operator==(const MemoryLimit&) const = default;
};

/// Folders of the system's files; tests use their own.
struct SystemFiles {
  std::string proc = "/proc";
};

/// Returns the memory of the node first, if /proc tells it; then the limits of control groups of both versions, on the
/// group of this process and on all groups above it.
std::vector<MemoryLimit> find_memory_limits(const std::string& host, const SystemFiles& files = {});

/// A limit on what one process maps into its memory, which is far more than it uses: libraries, stacks, reserves.
struct ProcessLimit {
  std::string option;  ///< "ulimit -v"
  std::int64_t bytes = 0;
  std::int64_t taken = 0;  ///< bytes that are in use now
};
/// Returns this process's limits on the address space (RLIMIT_AS) and on data (RLIMIT_DATA); empty if neither is set.
std::vector<ProcessLimit> find_process_limits(const SystemFiles& files = {});
/// Bytes that a thread takes of a ProcessLimit in addition to what it uses: its stack, and the heap that glibc reserves
/// for it.
std::int64_t thread_reserve();
/// Returns a sentence about the first ProcessLimit that leaves less than `bytes`; empty if all leave more.
std::string describe_small_limits(std::int64_t bytes, const SystemFiles& files = {});
/// Returns a sentence for each ProcessLimit that is nearly reached, with a blank before it: to end an error's message.
std::string describe_near_limits(const SystemFiles& files = {});

/// Returns the job's share of a node's memory (--mem, or --mem-per-cpu for each processor); empty if Slurm sets no
/// limit. The last three arguments are variables of Slurm's environment, memory in MiB; null if they are not set.
std::vector<MemoryLimit> slurm_memory_limits(const std::string& host, const char* mem_per_node, const char* mem_per_cpu,
                                             const char* cpus_on_node);

/// Bytes of the node's memory that no process uses, or that the system can free at once; 0 if not known.
std::int64_t available_memory(const SystemFiles& files = {});

}  // namespace convoy
