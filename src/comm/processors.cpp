/// Affinity mask and control-group quota: which of a node's processors a container or a batch system lets this process
/// use.
#include "comm/processors.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

#include <hwloc.h>
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

// --- Shares ----------------------------------------------------------------------------------------------------------

namespace {

using Parts = std::vector<const hwloc_obj*>;

// Cuts shares off the processors of one part of the machine, and adds them to `shares`, by the position of the first
// processor of each. Returns the processors that are left, fewer than a share. It finds as many shares as the part has
// room for: each of its own parts leaves less than a share, and these rests are joined.
Parts cut_shares(const hwloc_obj* part, const ProcessorSet& processors, std::size_t size,
                 std::map<unsigned, ProcessorSet>& shares) {
  Parts left;
  if (part->arity == 0 && std::ranges::binary_search(processors, part->os_index)) left.push_back(part);
  for (unsigned i = 0; i < part->arity; ++i) {
    const Parts more = cut_shares(part->children[i], processors, size, shares);
    left.insert(left.end(), more.begin(), more.end());
  }
  for (; left.size() >= size; left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(size))) {
    ProcessorSet& share = shares[left.front()->logical_index];
    for (std::size_t i = 0; i < size; ++i) share.push_back(left[i]->os_index);
    std::ranges::sort(share);
  }
  return left;
}

bool knows(const Machine& machine, const ProcessorSet& processors) {
  return machine.root() != nullptr && std::ranges::all_of(processors, [&](std::int64_t number) {
           return hwloc_bitmap_isset(machine.root()->cpuset, static_cast<unsigned>(number)) != 0;
         });
}

}  // namespace

std::vector<ProcessorSet> divide_processors(const Machine& machine, const ProcessorSet& processors, std::int64_t size) {
  std::vector<ProcessorSet> all;
  if (knows(machine, processors)) {
    std::map<unsigned, ProcessorSet> shares;
    cut_shares(machine.root(), processors, static_cast<std::size_t>(size), shares);
    for (const auto& [position, share] : shares) all.push_back(share);
  } else {
    for (auto begin = processors.begin(); begin != processors.end(); begin += size)
      all.emplace_back(begin, begin + size);
  }
  return all;
}

std::optional<std::size_t> find_share(std::span<const AffinityMask> masks, std::size_t rank,
                                      std::int64_t threads_per_rank, std::int64_t quota) {
  const AffinityMask& mine = masks[rank];
  const std::int64_t processors = count_processors(mine);
  const std::int64_t sharers = std::count(masks.begin(), masks.end(), mine);
  const bool is_in_part = std::any_of(masks.begin(), masks.end(),
                                      [&](const AffinityMask& mask) { return mask != mine && overlap(mask, mine); });
  if (sharers < 2 || is_in_part || quota < processors || sharers * threads_per_rank != processors) return std::nullopt;
  return static_cast<std::size_t>(std::count(masks.begin(), masks.begin() + static_cast<std::ptrdiff_t>(rank), mine));
}

}  // namespace convoy
