/// Reads the machine's structure from files of a few bytes each.
#include "convoy/comm/machine.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "comm/processors.h"

namespace convoy {

namespace {

// Where the text begins with a number of 0 or more.
std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number < 0 ? std::nullopt : std::optional(number);
}

// The numbers N of a folder's entries that are named PREFIX N, in ascending order.
std::vector<std::int64_t> numbered_entries(const std::string& folder, std::string_view prefix) {
  std::vector<std::int64_t> numbers;
  std::error_code absent;
  std::filesystem::directory_iterator entry(folder, absent);
  for (; !absent && entry != std::filesystem::directory_iterator(); entry.increment(absent)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    if (const auto number = parse_number(std::string_view(name).substr(prefix.size()))) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string folder_of(std::int64_t processor, const std::string& sys) {
  return fmt::format("{}/devices/system/cpu/cpu{}", sys, processor);
}

// "Node 1 MemTotal:       65536 kB"
std::int64_t memory_of(const std::string& domain_folder) {
  constexpr std::string_view kKey = "MemTotal:";
  std::ifstream file(domain_folder + "/meminfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(kKey);
    if (at == std::string::npos) continue;
    std::istringstream rest(line.substr(at + kKey.size()));
    std::int64_t kibibytes = 0;
    rest >> kibibytes;
    return 1024 * kibibytes;
  }
  return 0;
}

// Nothing where Linux does not tell.
std::optional<LastLevelCache> find_last_level_cache(std::int64_t processor, const std::string& sys) {
  const std::string folder = folder_of(processor, sys) + "/cache";
  std::optional<LastLevelCache> last;
  for (const std::int64_t index : numbered_entries(folder, "index")) {
    const std::string one = fmt::format("{}/index{}", folder, index);
    LastLevelCache cache{.level = parse_number(read_line(one + "/level")).value_or(0),
                         .size = read_line(one + "/size"),
                         .processors = parse_processors(read_line(one + "/shared_cpu_list"))};
    if (!cache.processors.empty() && (!last || cache.level > last->level)) last = std::move(cache);
  }
  return last;
}

}  // namespace

ProcessorSet parse_processors(std::string_view text) {
  constexpr std::int64_t kMax = 1 << 20;  // far more than Linux can have: what is no list of processors fills no memory
  ProcessorSet processors;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const std::size_t dash = item.find('-');
    const auto first = parse_number(item);
    const auto last = dash == std::string_view::npos ? first : parse_number(item.substr(dash + 1));
    if (!first || !last || *last >= kMax) continue;
    for (std::int64_t number = *first; number <= *last; ++number) processors.push_back(number);
  }
  std::sort(processors.begin(), processors.end());
  return processors;
}

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

std::vector<Processor> find_processors(const ProcessorSet& numbers, const std::string& sys) {
  std::map<std::int64_t, std::int64_t> domain_of;
  for (const NumaDomain& domain : find_numa_domains(sys))
    for (const std::int64_t number : domain.processors) domain_of[number] = domain.number;
  std::vector<Processor> processors;
  for (const std::int64_t number : numbers) {
    const std::string topology = folder_of(number, sys) + "/topology";
    const auto cache = find_last_level_cache(number, sys);
    processors.push_back({.number = number,
                          .domain = domain_of.contains(number) ? domain_of[number] : 0,
                          .package = parse_number(read_line(topology + "/physical_package_id")).value_or(0),
                          .cache = cache ? cache->processors.front() : 0,
                          .core = parse_number(read_line(topology + "/core_id")).value_or(number)});
  }
  return processors;
}

std::vector<NumaDomain> find_numa_domains(const std::string& sys) {
  const std::string folder = sys + "/devices/system/node";
  std::vector<NumaDomain> domains;
  for (const std::int64_t number : numbered_entries(folder, "node")) {
    const std::string one = fmt::format("{}/node{}", folder, number);
    domains.push_back({.number = number,
                       .processors = parse_processors(read_line(one + "/cpulist")),
                       .memory_bytes = memory_of(one)});
  }
  return domains;
}

std::int64_t count_domains(const ProcessorSet& processors, const std::vector<NumaDomain>& domains) {
  const auto has_some = [&](const NumaDomain& domain) {
    return std::any_of(processors.begin(), processors.end(), [&](std::int64_t number) {
      return std::binary_search(domain.processors.begin(), domain.processors.end(), number);
    });
  };
  return std::max<std::int64_t>(1, std::count_if(domains.begin(), domains.end(), has_some));
}

std::vector<LastLevelCache> find_last_level_caches(const std::string& sys) {
  std::map<std::int64_t, LastLevelCache> caches;  // by their first processor
  for (const std::int64_t number : parse_processors(read_line(sys + "/devices/system/cpu/online")))
    if (auto cache = find_last_level_cache(number, sys)) caches.emplace(cache->processors.front(), std::move(*cache));
  std::vector<LastLevelCache> found;
  for (auto& [first, cache] : caches) found.push_back(std::move(cache));
  return found;
}

std::string huge_pages_setting(const std::string& sys) {
  const std::string choices = read_line(sys + "/kernel/mm/transparent_hugepage/enabled");  // "always [madvise] never"
  const std::size_t open = choices.find('['), close = choices.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  return choices.substr(open + 1, close - open - 1);
}

}  // namespace convoy
