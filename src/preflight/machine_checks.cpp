/// See machine_checks.h.
#include "preflight/machine_checks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>

#include <fmt/core.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/version.h"
#include "convoy/base/wording.h"
#include "convoy/comm/gather.h"
#include "convoy/comm/machine.h"
#include "convoy/comm/root_clock.h"
#include "convoy/comm/session.h"
#include "convoy/comm/transport.h"
#include "convoy/io/inspect.h"
#include "convoy/params/parameters.h"

#include "run/run_backend.h"

namespace convoy::preflight {

namespace {

constexpr double kMaxSkewSeconds = 1;  // with more, times in logs and of files are not comparable

// Returns the value of a key for the first processor: from "model name\t: AMD EPYC" "AMD EPYC" for "model name".
std::string value_of(const std::string& cpuinfo, std::string_view key) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

Finding device_finding(const Parameters& params, const ops::BackendSpec& spec, std::unique_ptr<ops::Backend>& backend) {
  try {
    backend = ops::make_backend(spec);
    check_precision(params.train.precision, backend->device());
    return ok(backend->device().description());
  } catch (const Error& error) {
    backend.reset();
    return fails(error.what());
  }
}

// Returns "4 ranks on a node, each on 8 processors within one NUMA domain".
std::string describe_near(const RankThreads& rank) {
  const std::string verb = !rank.place.is_own ? "which share " : rank.ranks > 1 ? "each on " : "on ";
  return fmt::format("{} on a node, {}{} within one NUMA domain", counted(rank.ranks, "rank"), verb,
                     counted(rank.place.num_processors, "processor"));
}

// Describes a rank whose threads fill its own processors, which are in several NUMA domains.
std::string describe_far(const RankThreads& rank) {
  const std::int64_t domains = rank.place.num_domains;
  const std::string remedy =
      rank.threads % domains == 0
          ? fmt::format("start {} on the node, each with {}", counted(rank.ranks * domains, "rank"),
                        counted(rank.threads / domains, "thread"))
          : "start a number of ranks on the node that is a multiple of the number of its NUMA domains";
  return fmt::format(
      "the rank's {} run on {} NUMA domains, so that {} of its memory is in another domain than the thread that uses "
      "it: {}",
      counted(rank.threads, "thread"), domains, domains == 2 ? "half" : "most", remedy);
}

std::string describe_moving(const RankThreads& rank) {
  return fmt::format(
      "the rank's {} may move between {} NUMA domains, away from its memory. Bind ranks to processors (srun "
      "--cpus-per-task, mpirun --bind-to numa), or let their threads fill the node, with run.placement = auto",
      counted(rank.threads, "thread"), rank.place.num_domains);
}

}  // namespace

std::string processor_kind(const std::string& cpuinfo) {
  std::string name = value_of(cpuinfo, "model name");
  if (name.empty())  // on ARM
    name = fmt::format("processor of implementer {}, part {}", value_of(cpuinfo, "CPU implementer"),
                       value_of(cpuinfo, "CPU part"));
  constexpr std::array kShown = {"avx2", "avx512f", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "sve"};
  std::istringstream words(value_of(cpuinfo, "flags") + " " + value_of(cpuinfo, "Features"));
  const std::vector<std::string> flags{std::istream_iterator<std::string>(words), {}};
  std::string kind = name + ":";
  for (const std::string shown : kShown)
    if (std::find(flags.begin(), flags.end(), shown) != flags.end()) kind += " " + shown;
  return kind;
}

std::string library_versions(bool computes_on_host) {
  const std::string nccl = computes_on_host ? "" : nccl_version();
  return fmt::format("{}; {}; {}{}", mpi::library_version(), io::hdf5_version(), ops::onednn_version(),
                     nccl.empty() ? "" : "; " + nccl);
}

Finding judge_threads(const NodeLoad& node, std::int64_t threads_per_rank) {
  const bool is_one = node.ranks == 1;
  const std::string load = fmt::format("{} with {}{} on a node", counted(node.ranks, "rank"),
                                       counted(threads_per_rank, "thread"), is_one ? "" : " each");
  if (!node.is_shared()) return ok(load + ", and a core for every thread");
  return warning(fmt::format(
      "{}, but there are cores for only {:g} of the ranks: they wait for each other. Use fewer ranks or a smaller "
      "run.threads, or let the launcher bind ranks to more cores (srun --cpus-per-task, mpirun --bind-to none)",
      load, node.ranks_at_once));
}

Finding judge_clocks(const std::vector<ClockOffset>& offsets, const std::vector<std::string>& hosts) {
  std::size_t worst = 0;
  std::int64_t num_hosts = 0;
  const auto skew = [&](std::size_t rank) {  // a lower bound
    return std::max(0.0, std::abs(offsets[rank].offset_seconds) - offsets[rank].error_seconds);
  };
  for (std::size_t rank = 0; rank < offsets.size(); ++rank) {
    if (std::isinf(offsets[rank].error_seconds)) continue;
    ++num_hosts;
    if (skew(rank) > skew(worst)) worst = rank;
  }
  if (num_hosts == 1) return ok("one host, one clock");
  if (worst == 0) return ok(fmt::format("{} hosts; no difference between their clocks can be measured", num_hosts));
  const std::string text = fmt::format("{} hosts; the clock of {} differs most from that of {}: {:.3f} s", num_hosts,
                                       hosts[worst], hosts[0], skew(worst));
  if (skew(worst) <= kMaxSkewSeconds) return ok(text);
  return warning(text + ". Times in logs and of files cannot be compared. Have the hosts' clocks set (NTP)");
}

void check_programs(bool computes_on_host, Report& report) {
  report.add_agreement("program", fmt::format("convoy {}", version()), Outcome::kFails,
                       "Start the same program on all hosts.");
  report.add_agreement("libraries", library_versions(computes_on_host), Outcome::kWarning,
                       "Results have the same bits only if all ranks have the same libraries.");
  std::ifstream cpuinfo("/proc/cpuinfo");
  report.add_agreement("processor", processor_kind({std::istreambuf_iterator<char>(cpuinfo), {}}), Outcome::kWarning,
                       "Results have the same bits only on processors of one kind.");
}

std::unique_ptr<ops::Backend> check_device(const Parameters& params, Report& report) {
  const mpi::Communicator& world = report.world();
  std::unique_ptr<ops::Backend> backend;
  const ops::BackendSpec spec =
      backend_spec(params, threads_per_rank(params.run.threads, world), find_topology(world).local_rank);
  const Finding mine = device_finding(params, spec, backend);
  const std::int64_t num_failed = world.sum(backend == nullptr ? 1 : 0);
  const std::int64_t num_on_host = world.sum(backend != nullptr && backend->device().is_host() ? 1 : 0);
  const bool is_mixed = num_on_host > 0 && num_on_host < world.size() - num_failed;
  if (num_failed > 0) {
    report.add_of_all("device", mine);
  } else {
    report.add_agreement("device", mine.text, is_mixed ? Outcome::kFails : Outcome::kWarning,
                         is_mixed ? "Use hosts that are alike, or run.device = cpu."
                                  : "Results have the same bits only on devices of one kind.");
  }
  if (num_failed > 0 || is_mixed) backend.reset();
  return backend;
}

void check_threads(std::int64_t threads_per_rank, bool computes_on_host, bool is_warned_of, Report& report) {
  const NodeLoad node = find_own_node_load(report.world(), threads_per_rank);
  const bool are_many = threads_per_rank > min_usable_processors(report.world());  // collective: all ranks call it
  if (report.world().max(is_warned_of && are_many ? 1 : 0) > 0) return;            // only rank 0 knows the warnings
  report.add_of_all("threads",
                    computes_on_host ? judge_threads(node, threads_per_rank) : ok("not needed: the GPUs compute"));
}

void check_clocks(Report& report) {
  const mpi::Communicator& world = report.world();
  const bool asks = find_topology(world).local_rank == 0;
  const mpi::Communicator askers = world.split(asks ? 0 : 1, world.rank());
  ClockOffset mine{.error_seconds = std::numeric_limits<double>::infinity()};
  if (asks) {
    const ClockReading reading = read_root_clock(askers, wall_clock_seconds);
    mine = {.offset_seconds = reading.offset_seconds, .error_seconds = reading.error_seconds};
  }
  const std::vector<ClockOffset> offsets = mpi::gather_values(world, std::vector{mine});
  if (report.is_root()) report.add("clocks", judge_clocks(offsets, report.hosts()));
}

Finding judge_placement(const RankThreads& rank, const std::string& huge_pages) {
  const std::string hint = huge_pages == "never"
                               ? ". Transparent huge pages are off on this host: with madvise in "
                                 "/sys/kernel/mm/transparent_hugepage/enabled large memory is read faster"
                               : "";
  if (rank.place.num_domains == 1) return ok(describe_near(rank) + hint);
  const bool fills = rank.place.is_own && rank.threads >= rank.place.num_processors;
  return warning((fills ? describe_far(rank) : describe_moving(rank)) + hint);
}

void check_placement(std::int64_t threads_per_rank, bool computes_on_host, Report& report) {
  const RankThreads mine{.place = find_rank_place(report.world()),
                         .ranks = find_topology(report.world()).local_size,
                         .threads = threads_per_rank};
  report.add_of_all(
      "placement", computes_on_host ? judge_placement(mine, huge_pages_setting()) : ok("not needed: the GPUs compute"));
}

}  // namespace convoy::preflight
