/// What limits the memory of this process: its node, the control groups that it is in, Slurm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

/// Memory that several processes share.
struct MemoryLimit {
  std::string pool;  ///< the same for all processes that share it: "node17 /slurm/job_12"
  std::string what;  ///< "memory of the node", "limit of the control group /slurm/job_12"
  std::int64_t bytes = 0;

  bool operator==(const MemoryLimit&) const = default;
};

/// Where the system's files are; a test has its own.
struct SystemFiles {
  std::string proc = "/proc";
};

/// That of the node itself first, if /proc says it. Control groups of both versions: a limit on any group from that of
/// this process up to the root holds.
std::vector<MemoryLimit> find_memory_limits(const std::string& host, const SystemFiles& files = {});

/// A limit on what one process maps into its memory, which is far more than it uses: libraries, stacks, reserves.
struct ProcessLimit {
  std::string option;  ///< "ulimit -v"
  std::int64_t bytes = 0;
  std::int64_t taken = 0;  ///< of it, now
};
/// Limits on the address space (RLIMIT_AS) and on data (RLIMIT_DATA), if there are any.
std::vector<ProcessLimit> find_process_limits(const SystemFiles& files = {});
/// What a thread takes of such a limit in addition to what it uses: its stack, and the heap that glibc reserves for it.
std::int64_t thread_reserve();
/// A sentence about the first such limit that leaves less than `bytes`; empty where there is none.
std::string describe_small_limits(std::int64_t bytes, const SystemFiles& files = {});
/// For an error's message: a sentence for each such limit that is nearly reached, with a blank before it.
std::string describe_near_limits(const SystemFiles& files = {});

/// The job's share of a node (--mem, --mem-per-cpu), in MiB as Slurm's environment has them; null where it is not set.
/// Nothing where Slurm sets no limit.
std::vector<MemoryLimit> slurm_memory_limits(const std::string& host, const char* mem_per_node, const char* mem_per_cpu,
                                             const char* cpus_on_node);

/// Bytes of the node that no process uses, or that the system can take back at once; 0 where it is not known.
std::int64_t available_memory(const SystemFiles& files = {});

}  // namespace convoy
