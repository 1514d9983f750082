/// Reads the files of /proc and of control groups.
#include "convoy/comm/memory_limits.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>

#include <fmt/core.h>
#include <sys/resource.h>

#include "convoy/base/text.h"

#include "comm/control_groups.h"

namespace convoy {

namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
// Version 1 has a number close to 2^63 where there is no limit, version 2 "max".
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

// "MemTotal:   24683656 kB", in bytes; 0 where there is no such line.
std::int64_t kibibytes_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key + ":")) return 1024 * std::atoll(line.c_str() + key.size() + 1);
  return 0;
}

std::optional<std::int64_t> read_limit(const std::string& path) {
  std::ifstream file(path);
  std::int64_t bytes = 0;
  if (!(file >> bytes) || bytes <= 0 || bytes >= kNoLimit) return std::nullopt;
  return bytes;
}

std::int64_t number_of(const char* text) {
  return text == nullptr ? 0 : std::atoll(text);
}

}  // namespace

std::vector<MemoryLimit> find_memory_limits(const std::string& host, const SystemFiles& files) {
  std::vector<MemoryLimit> limits;
  if (const std::int64_t bytes = kibibytes_in(files.proc + "/meminfo", "MemTotal"); bytes > 0)
    limits.push_back({host, "memory of the node", bytes});
  for (const ControlGroup& group : find_control_groups("memory", files)) {
    const auto bytes = read_limit(group.folder + (group.version == 1 ? "/memory.limit_in_bytes" : "/memory.max"));
    if (bytes)
      limits.push_back({fmt::format("{} {}", host, group.name), "limit of the control group " + group.name, *bytes});
  }
  return limits;
}

std::vector<ProcessLimit> find_process_limits(const SystemFiles& files) {
  std::vector<ProcessLimit> limits;
  const auto append = [&](int resource, const char* option, const char* taken) {
    rlimit limit = {};
    if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    const auto bytes = static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, kNoLimit));
    limits.push_back({.option = option, .bytes = bytes, .taken = kibibytes_in(files.proc + "/self/status", taken)});
  };
  append(RLIMIT_AS, "ulimit -v", "VmSize");
  append(RLIMIT_DATA, "ulimit -d", "VmData");
  return limits;
}

std::int64_t thread_reserve() {
  constexpr std::int64_t kHeap = 64 * kMebibyte;  // glibc reserves it for what a thread allocates
  rlimit stack = {};
  const bool is_known = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < static_cast<rlim_t>(kNoLimit);
  return kHeap + (is_known ? static_cast<std::int64_t>(stack.rlim_cur) : 8 * kMebibyte);
}

std::string describe_small_limits(std::int64_t bytes, const SystemFiles& files) {
  for (const ProcessLimit& limit : find_process_limits(files))
    if (limit.bytes - limit.taken < bytes)
      return fmt::format(
          "the limit {0} is {1}: {2} are in use, and libraries and threads may reserve {3} more before the network "
          "needs any. If the limit is too low, the run fails or crashes. Raise it ({0} unlimited, or the batch "
          "system's option for virtual memory), or use a smaller run.threads",
          limit.option, human_bytes(limit.bytes), human_bytes(limit.taken), human_bytes(bytes));
  return "";
}

std::string describe_near_limits(const SystemFiles& files) {
  std::string text;
  for (const ProcessLimit& limit : find_process_limits(files))
    if (limit.bytes - limit.taken < std::max(limit.bytes / 8, 2 * thread_reserve()))
      text += fmt::format(
          " The limit {} of this process is {}, and {} are in use: raise the limit ({} unlimited, or the batch "
          "system's option for virtual memory), or start fewer threads.",
          limit.option, human_bytes(limit.bytes), human_bytes(limit.taken), limit.option);
  return text;
}

std::vector<MemoryLimit> slurm_memory_limits(const std::string& host, const char* mem_per_node, const char* mem_per_cpu,
                                             const char* cpus_on_node) {
  const std::string pool = host + " slurm";
  if (const std::int64_t mebibytes = number_of(mem_per_node); mebibytes > 0)
    return {{pool, "--mem of the Slurm job", mebibytes * kMebibyte}};
  if (const std::int64_t mebibytes = number_of(mem_per_cpu) * number_of(cpus_on_node); mebibytes > 0)
    return {{pool, "--mem-per-cpu of the Slurm job", mebibytes * kMebibyte}};
  return {};
}

std::int64_t available_memory(const SystemFiles& files) {
  return kibibytes_in(files.proc + "/meminfo", "MemAvailable");
}

Resident resident() {
  const auto bytes = [](const char* key) { return kibibytes_in("/proc/self/status", key); };
  return {.now = bytes("VmRSS"), .peak = bytes("VmHWM"), .files = bytes("RssFile")};
}

Resident resident_from_here() {
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): resets VmHWM
  return resident();
}

}  // namespace convoy
