/// See memory_limits.h.
#include "convoy/comm/memory_limits.h"

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace convoy {

namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
// Version 1 has a number close to 2^63 where there is no limit, version 2 "max".
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

// "MemTotal:   24683656 kB"; 0 where there is no such line.
std::int64_t meminfo_bytes(const SystemFiles& files, const std::string& key) {
  std::ifstream file(files.proc + "/meminfo");
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

/// Where a hierarchy of control groups is, and which of them this process is in.
struct Hierarchy {
  std::string root, group, limit_file;
};

// Lines of /proc/self/cgroup: "0::/slurm/job_12" (version 2), "4:memory:/slurm/job_12" (version 1).
std::vector<Hierarchy> hierarchies(const SystemFiles& files) {
  std::vector<Hierarchy> found;
  std::ifstream file(files.proc + "/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",",
                      group = line.substr(second + 1);
    if (controllers == ",,") found.push_back({files.cgroup, group, "/memory.max"});
    if (controllers.find(",memory,") != std::string::npos)
      found.push_back({files.cgroup + "/memory", group, "/memory.limit_in_bytes"});
  }
  return found;
}

// Of the group and all above it. In a container a group may have a name that only its host knows: its root is tried.
void append_limits(const std::string& host, const Hierarchy& hierarchy, std::vector<MemoryLimit>& limits) {
  std::string group = hierarchy.group == "/" ? "" : hierarchy.group;
  while (true) {
    if (const auto bytes = read_limit(hierarchy.root + group + hierarchy.limit_file)) {
      const std::string name = group.empty() ? "/" : group;
      limits.push_back({fmt::format("{} {}", host, name), "limit of the control group " + name, *bytes});
    }
    if (group.empty()) return;
    group = group.substr(0, group.rfind('/'));
  }
}

std::int64_t number_of(const char* text) {
  return text == nullptr ? 0 : std::atoll(text);
}

}  // namespace

std::vector<MemoryLimit> find_memory_limits(const std::string& host, const SystemFiles& files) {
  std::vector<MemoryLimit> limits;
  if (const std::int64_t bytes = meminfo_bytes(files, "MemTotal"); bytes > 0)
    limits.push_back({host, "memory of the node", bytes});
  for (const Hierarchy& hierarchy : hierarchies(files)) append_limits(host, hierarchy, limits);
  return limits;
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
  return meminfo_bytes(files, "MemAvailable");
}

}  // namespace convoy
