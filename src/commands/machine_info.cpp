/// Implements machine_info.h.
#include "commands/machine_info.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "convoy/base/text.h"
#include "convoy/base/version.h"
#include "convoy/ops/backend.h"

#include "preflight/machine_checks.h"
#include "preflight/report.h"

namespace convoy::commands {

namespace {

std::string line(const std::string& name, const std::string& text) {
  return fmt::format("  {:<16}{}\n", name, text);
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string describe_domains(const Machine& machine) {
  std::string text;
  for (const NumaDomain& domain : machine.domains()) {
    const std::string processors =
        domain.processors.empty() ? "no processors" : "processors " + to_string(domain.processors);
    text += line(fmt::format("NUMA domain {}", domain.number),
                 fmt::format("{}; {} of memory", processors, human_bytes(domain.memory_bytes)));
  }
  return text.empty() ? line("NUMA domains", "not reported by the system") : text;
}

std::string describe_caches(const Machine& machine) {
  std::string text;
  for (const LastLevelCache& cache : machine.last_level_caches())
    text += line(fmt::format("L{} cache", cache.level),
                 fmt::format("processors {}; {}K", to_string(cache.processors), cache.size_bytes / 1024));
  return text;
}

// Describes GPUs from lines like "Model: NVIDIA H100": the driver lists its GPUs, whether or not this program was built
// for them.
std::string describe_gpus(const std::string& proc) {
  constexpr std::string_view kKey = "Model:";
  std::vector<std::string> models;
  std::error_code absent;
  std::filesystem::directory_iterator gpu(proc + "/driver/nvidia/gpus", absent);
  for (; !absent && gpu != std::filesystem::directory_iterator(); gpu.increment(absent)) {
    std::ifstream file(gpu->path() / "information");
    for (std::string entry; std::getline(file, entry);) {
      const std::size_t begin = entry.find_first_not_of(" \t", kKey.size());
      if (entry.starts_with(kKey) && begin != std::string::npos) models.push_back(entry.substr(begin));
    }
  }
  std::sort(models.begin(), models.end());
  return line("NVIDIA GPUs", models.empty() ? "none" : fmt::format("{}", fmt::join(models, "; ")));
}

}  // namespace

std::string describe_machine(const Machine& machine, const std::string& sys, const std::string& proc) {
  const std::string huge_pages = huge_pages_setting(sys);
  return line("processor", preflight::processor_kind(read_text(proc + "/cpuinfo"))) + describe_domains(machine) +
         describe_caches(machine) + line("huge pages", huge_pages.empty() ? "not reported by the system" : huge_pages) +
         describe_gpus(proc);
}

std::string describe_own_processors() {
  const ProcessorSet mine = own_processors();
  const std::int64_t usable = usable_processors();
  const std::string quota =
      usable < std::ssize(mine) ? fmt::format(", but a control group allows only the time of {} of them", usable) : "";
  return to_string(mine) + quota;
}

std::string describe_machine_and_ranks(const std::vector<std::string>& hosts,
                                       const std::vector<std::string>& processors) {
  const bool takes_cpu = ops::computes_on_host(DeviceKind::kAuto);
  std::string text =
      fmt::format("convoy {} on {}\n{}{}{}", convoy::version(), hosts.front(),
                  line("libraries", preflight::library_versions(takes_cpu)),
                  line("device", fmt::format("run.device = auto takes {}", takes_cpu ? "the CPU" : "a GPU")),
                  describe_machine(own_machine()));
  for (std::size_t rank = 0; rank < processors.size(); ++rank)
    text += fmt::format("rank {} on {}: processors {}\n", rank, hosts[rank], processors[rank]);
  return text;
}

}  // namespace convoy::commands
