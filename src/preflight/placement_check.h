/// Checks whether the threads of each rank compute near its memory.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/comm/placement.h"

#include "preflight/report.h"

namespace convoy::preflight {

/// Where the threads of a rank run, and the number of ranks on its node.
struct RankThreads {
  RankPlace place;
  std::int64_t ranks = 1;    ///< number of ranks on the node
  std::int64_t threads = 1;  ///< number of threads of each rank
};

/// Warns if a rank's threads run in several NUMA domains. `huge_pages` is the result of huge_pages_setting().
Finding judge_placement(const RankThreads& rank, const std::string& huge_pages);

/// Reports where the ranks' threads run. Called after ranks were placed on processors, as train places them. All ranks
/// of the world call it.
void check_placement(std::int64_t threads_per_rank, bool computes_on_host, Report& report);

}  // namespace convoy::preflight
