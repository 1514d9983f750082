/// See placement_check.h.
#include "preflight/placement_check.h"

#include <fmt/core.h>

#include "convoy/base/wording.h"
#include "convoy/comm/machine.h"
#include "convoy/comm/topology.h"

namespace convoy::preflight {

namespace {

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
