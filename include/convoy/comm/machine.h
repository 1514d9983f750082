/// The parts of the machine that this process runs on, as Linux describes them in /sys: NUMA domains, caches, cores.
/// If Linux does not tell them (in containers, on other processors), one domain and one cache are assumed: no error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

/// Numbers of processors as Linux counts them (each hardware thread is a processor), in ascending order.
using ProcessorSet = std::vector<std::int64_t>;

/// Parses a list of processors as Linux writes it: "0-7,16-23". Items that are no numbers or ranges are left out.
ProcessorSet parse_processors(std::string_view text);
std::string to_string(const ProcessorSet& processors);

/// The processors that this process may run on.
ProcessorSet own_processors();

/// Number of processors that this process may keep busy: all of own_processors(), or fewer if the quotas of its control
/// groups allow less.
std::int64_t usable_processors();

/// A processor and the parts of the machine that it belongs to. Two processors with the same number in a field share
/// that part.
struct Processor {
  std::int64_t number = 0;
  std::int64_t domain = 0;   ///< NUMA domain: memory in another one is further away
  std::int64_t package = 0;  ///< socket
  std::int64_t cache = 0;    ///< last-level cache, by the first processor that it serves
  std::int64_t core = 0;     ///< number within the package: hardware threads of one core share its arithmetic

  bool operator==(const Processor&) const = default;
};
std::vector<Processor> find_processors(const ProcessorSet& numbers, const std::string& sys = "/sys");

struct NumaDomain {
  std::int64_t number = 0;
  ProcessorSet processors;  ///< empty if the domain has only memory
  std::int64_t memory_bytes = 0;
};
/// Returns the NUMA domains in the order of their numbers; empty if Linux does not tell.
std::vector<NumaDomain> find_numa_domains(const std::string& sys = "/sys");
/// Number of the domains that have one of the processors; at least 1.
std::int64_t count_domains(const ProcessorSet& processors, const std::vector<NumaDomain>& domains);

struct LastLevelCache {
  std::int64_t level = 0;
  std::string size;  ///< "32768K", as Linux writes it
  ProcessorSet processors;
};
/// Returns the last-level caches of all processors that are online, in the order of the first processor of each.
std::vector<LastLevelCache> find_last_level_caches(const std::string& sys = "/sys");

/// Returns the setting of transparent huge pages: "always", "madvise" or "never"; empty if Linux does not tell.
std::string huge_pages_setting(const std::string& sys = "/sys");

}  // namespace convoy
