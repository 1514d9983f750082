/// Affinity mask and control-group quota: which of a node's processors a container or a batch system lets this process
/// use.
#include "comm/processors.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include <sched.h>

#include "convoy/base/error.h"

namespace convoy {

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

std::int64_t quota_processors(std::string_view cpu_max) {
  std::istringstream words{std::string(cpu_max)};
  std::int64_t quota = 0;
  std::int64_t period = 0;
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return kNoQuota;
  return quota < period ? 1 : quota / period;
}

std::int64_t quota_processors() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string line;
  std::getline(file, line);  // where there is no such file the line is empty: no limit
  return quota_processors(line);
}

}  // namespace convoy
