/// The memory that this process has, and the limits on it: of its node, of the control groups that it is in, and of
/// Slurm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

/// A limit on the memory that several processes share.
struct MemoryLimit {
  std::string pool;  ///< identity of the limit, the same for all processes that share it: "node17 /slurm/job_12"
  std::string what;  ///< description for messages: "memory of the node", "limit of the control group /slurm/job_12"
  std::int64_t bytes = 0;

  bool operator==(const MemoryLimit&) const = default;
};

/// The folders of the system's files, which tests replace by their own.
struct SystemFiles {
  std::string proc = "/proc";
};

/// Returns the limits that apply to this process: first the memory of the node, if /proc tells it, then the limits of
/// its control groups (of versions 1 and 2) and of all groups above them. `host` names the node in MemoryLimit::pool.
std::vector<MemoryLimit> find_memory_limits(const std::string& host, const SystemFiles& files = {});

/// A limit on the address space or the data that one process maps, which is far more than the memory that it uses:
/// libraries, stacks, reserved ranges.
struct ProcessLimit {
  std::string option;      ///< shell command that sets the limit: "ulimit -v"
  std::int64_t bytes = 0;  ///< size of the limit
  std::int64_t taken = 0;  ///< number of bytes that the process has mapped so far
};
/// Returns this process's limits on the address space (RLIMIT_AS) and on data (RLIMIT_DATA), as far as they are set.
std::vector<ProcessLimit> find_process_limits(const SystemFiles& files = {});
/// Returns the number of bytes that a new thread takes of a ProcessLimit in addition to the memory that it uses: its
/// stack, and the heap that glibc reserves for it.
std::int64_t thread_reserve();
/// Returns a sentence about the first limit of this process (find_process_limits()) that leaves less than `bytes`;
/// empty if all leave more.
std::string describe_small_limits(std::int64_t bytes, const SystemFiles& files = {});
/// Returns a sentence for each limit of this process (find_process_limits()) that is nearly reached, with a leading
/// blank, to be appended to an error's message.
std::string describe_near_limits(const SystemFiles& files = {});

/// Returns the job's share of a node's memory as Slurm limits it (--mem, or --mem-per-cpu for each processor); empty if
/// it sets no limit. The last three arguments are values of Slurm's environment variables, memory in MiB; null if not
/// set.
std::vector<MemoryLimit> slurm_memory_limits(const std::string& host, const char* mem_per_node, const char* mem_per_cpu,
                                             const char* cpus_on_node);

/// Returns the number of bytes of the node's memory that no process uses, or that the system can free at once; 0 if not
/// known.
std::int64_t available_memory(const SystemFiles& files = {});

/// Resident memory of this process, in bytes; 0 if Linux does not tell.
struct Resident {
  std::int64_t now = 0;   ///< bytes at present (VmRSS)
  std::int64_t peak = 0;  ///< the most bytes so far (VmHWM)
  /// The part of `now` that is pages of mapped files (RssFile), which the kernel can take back.
  std::int64_t files = 0;
};

/// Reads the resident memory of this process from /proc.
Resident resident();
/// Resets the peak to the present value, if Linux allows it, and returns resident().
Resident resident_from_here();

}  // namespace convoy
