/// What the machine is made of that this process runs on, as Linux tells it in /sys: NUMA domains, caches, cores.
/// What it does not tell (in containers, on other processors) is taken as one domain, one cache; never an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

/// Numbers of processors as Linux counts them (each hardware thread is one), in ascending order.
using ProcessorSet = std::vector<std::int64_t>;

/// "0-7,16-23", as Linux writes it; what is no list of numbers is left out.
ProcessorSet parse_processors(std::string_view text);
std::string to_string(const ProcessorSet& processors);

/// The processors that this process may run on.
ProcessorSet own_processors();

/// How many of them it may keep busy: all, or what the quotas of its control groups leave.
std::int64_t usable_processors();

/// A processor and what it is part of. Two that have the same number in a field share that part.
struct Processor {
  std::int64_t number = 0;
  std::int64_t domain = 0;   ///< of memory (NUMA): what lies in another one is further away
  std::int64_t package = 0;  ///< socket
  std::int64_t cache = 0;    ///< of the last level: the first processor that it serves
  std::int64_t core = 0;     ///< within the package: hardware threads of one core share its arithmetic

  bool operator==(const Processor&) const = default;
};
std::vector<Processor> find_processors(const ProcessorSet& numbers, const std::string& sys = "/sys");

struct NumaDomain {
  std::int64_t number = 0;
  ProcessorSet processors;  ///< none: memory alone
  std::int64_t memory_bytes = 0;
};
/// In the order of their numbers; none where Linux does not tell.
std::vector<NumaDomain> find_numa_domains(const std::string& sys = "/sys");
/// On how many of them the processors lie; at least 1.
std::int64_t count_domains(const ProcessorSet& processors, const std::vector<NumaDomain>& domains);

struct LastLevelCache {
  std::int64_t level = 0;
  std::string size;  ///< "32768K", as Linux writes it
  ProcessorSet processors;
};
/// Of all processors that run, in the order of the first processor of each.
std::vector<LastLevelCache> find_last_level_caches(const std::string& sys = "/sys");

/// Of transparent huge pages: "always", "madvise" or "never"; empty where Linux does not tell.
std::string huge_pages_setting(const std::string& sys = "/sys");

}  // namespace convoy
