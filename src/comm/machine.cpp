/// Asks hwloc for the parts of the machine.
#include "convoy/comm/machine.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <hwloc.h>

#include "comm/processors.h"

namespace convoy {

namespace {

// The numbers of processors, or of domains, in ascending order.
std::vector<std::int64_t> numbers_in(hwloc_const_bitmap_t bitmap) {
  std::vector<std::int64_t> numbers;
  for (int number = -1; (number = hwloc_bitmap_next(bitmap, number)) >= 0;) numbers.push_back(number);
  return numbers;
}

// Null if there is no such processor.
hwloc_obj_t find_processor(hwloc_topology_t topology, std::int64_t number) {
  return hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(number));
}

// The domain of a processor: the first memory of the smallest part around it that has some. Memory without processors,
// such as a GPU's, comes after it.
hwloc_obj_t find_domain(hwloc_obj_t part) {
  while (part != nullptr && part->memory_arity == 0) part = part->parent;
  return part == nullptr ? nullptr : part->memory_first_child;
}

hwloc_obj_t find_last_level_cache(hwloc_obj_t part) {
  hwloc_obj_t last = nullptr;
  for (; part != nullptr; part = part->parent)
    if (hwloc_obj_type_is_dcache(part->type) != 0) last = part;
  return last;
}

}  // namespace

std::string to_string(const ProcessorSet& processors) {
  std::vector<std::string> ranges;
  for (std::size_t begin = 0; begin < processors.size();) {
    std::size_t end = begin + 1;
    while (end < processors.size() && processors[end] == processors[end - 1] + 1) ++end;
    ranges.push_back(end == begin + 1 ? fmt::format("{}", processors[begin])
                                      : fmt::format("{}-{}", processors[begin], processors[end - 1]));
    begin = end;
  }
  return fmt::format("{}", fmt::join(ranges, ","));
}

ProcessorSet own_processors() {
  return processors_in(affinity_mask());
}

void Machine::Destroy::operator()(hwloc_topology* topology) const noexcept {
  hwloc_topology_destroy(topology);
}

// Devices are no parts unless one asks for them, so hwloc looks for no GPUs.
Machine::Machine(const std::string& description) {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return;
  topology_.reset(made);
  // To ask x86 processors themselves, hwloc would move this thread from one to the next. What Linux tells suffices.
  hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
  hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (!description.empty() && hwloc_topology_set_synthetic(made, description.c_str()) != 0) return;
  if (hwloc_topology_load(made) == 0) root_ = hwloc_get_root_obj(made);
}

std::int64_t Machine::domain_of(std::int64_t processor) const {
  if (root_ == nullptr) return 0;
  const hwloc_obj_t domain = find_domain(find_processor(topology_.get(), processor));
  return domain == nullptr ? 0 : domain->os_index;
}

std::int64_t Machine::count_domains(const ProcessorSet& processors) const {
  std::set<std::int64_t> domains;
  for (const std::int64_t number : processors) domains.insert(domain_of(number));
  return std::max<std::int64_t>(1, std::ssize(domains));
}

std::vector<NumaDomain> Machine::domains() const {
  if (root_ == nullptr || hwloc_topology_get_support(topology_.get())->discovery->numa == 0) return {};
  std::vector<NumaDomain> domains;
  for (const std::int64_t number : numbers_in(root_->nodeset)) {
    const hwloc_obj_t node = hwloc_get_numanode_obj_by_os_index(topology_.get(), static_cast<unsigned>(number));
    ProcessorSet processors = numbers_in(node->cpuset);
    std::erase_if(processors, [&](std::int64_t processor) { return domain_of(processor) != number; });
    domains.push_back({.number = number,
                       .processors = std::move(processors),
                       .memory_bytes = static_cast<std::int64_t>(node->attr->numanode.local_memory)});
  }
  return domains;
}

std::vector<LastLevelCache> Machine::last_level_caches() const {
  if (root_ == nullptr) return {};
  std::vector<LastLevelCache> caches;
  for (const std::int64_t number : numbers_in(root_->cpuset)) {
    const hwloc_obj_t cache = find_last_level_cache(find_processor(topology_.get(), number));
    if (cache != nullptr && hwloc_bitmap_first(cache->cpuset) == number)
      caches.push_back({.level = cache->attr->cache.depth,
                        .size_bytes = static_cast<std::int64_t>(cache->attr->cache.size),
                        .processors = numbers_in(cache->cpuset)});
  }
  return caches;
}

const Machine& own_machine() {
  static const Machine kMachine;
  return kMachine;
}

std::string huge_pages_setting(const std::string& sys) {
  const std::string choices = read_line(sys + "/kernel/mm/transparent_hugepage/enabled");  // "always [madvise] never"
  const std::size_t open = choices.find('['), close = choices.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  return choices.substr(open + 1, close - open - 1);
}

}  // namespace convoy
