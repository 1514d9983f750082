/// Affinity mask and control-group quota: which of a node's processors a container or a batch system lets this process
/// use.
#include "comm/processors.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <sched.h>

#include "convoy/base/error.h"

#include "comm/control_groups.h"

namespace convoy {

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

AffinityMask affinity_mask() {
  AffinityMask mask = {};
  if (sched_getaffinity(0, sizeof(mask), reinterpret_cast<cpu_set_t*>(mask.data())) != 0) {
    fail("The system does not say which processors this process may use: {}. Set run.threads.", std::strerror(errno));
  }
  return mask;
}

std::int64_t count_processors(const AffinityMask& mask) {
  std::int64_t count = 0;
  for (const std::uint64_t word : mask) count += std::popcount(word);
  return count;
}

ProcessorSet processors_in(const AffinityMask& mask) {
  ProcessorSet processors;
  for (std::size_t i = 0; i < mask.size(); ++i)
    for (std::uint64_t word = mask[i]; word != 0; word &= word - 1)  // without its lowest bit
      processors.push_back(static_cast<std::int64_t>(64 * i) + std::countr_zero(word));
  return processors;
}

bool overlap(const AffinityMask& a, const AffinityMask& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if ((a[i] & b[i]) != 0) return true;
  return false;
}

bool bind_process(const ProcessorSet& processors) {
  AffinityMask mask = {};
  for (const std::int64_t number : processors)
    mask.at(static_cast<std::size_t>(number / 64)) |= std::uint64_t{1} << (number % 64);
  const auto bind = [&mask](pid_t thread) {
    return sched_setaffinity(thread, sizeof(mask), reinterpret_cast<const cpu_set_t*>(mask.data())) == 0;
  };
  if (!bind(0)) return false;
  std::error_code gone;  // a thread may end meanwhile
  std::filesystem::directory_iterator thread("/proc/self/task", gone);
  for (; !gone && thread != std::filesystem::directory_iterator(); thread.increment(gone))
    bind(std::atoi(thread->path().filename().c_str()));
  return true;
}

std::int64_t quota_processors(std::string_view cpu_max) {
  std::istringstream words{std::string(cpu_max)};
  std::int64_t quota = 0;
  std::int64_t period = 0;
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return kNoQuota;
  return quota < period ? 1 : quota / period;
}

std::int64_t quota_processors(const SystemFiles& files) {
  std::int64_t fewest = kNoQuota;
  for (const ControlGroup& group : find_control_groups("cpu", files)) {
    const bool is_first = group.version == 1;
    std::string quota = read_line(group.folder + (is_first ? "/cpu.cfs_quota_us" : "/cpu.max"));
    if (is_first) quota += " " + read_line(group.folder + "/cpu.cfs_period_us");
    fewest = std::min(fewest, quota_processors(quota));
  }
  return fewest;
}

std::int64_t usable_processors() {
  return std::min(count_processors(affinity_mask()), quota_processors());
}

}  // namespace convoy
