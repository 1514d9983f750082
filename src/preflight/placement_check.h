/// Checks whether each rank computes near its memory.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/comm/placement.h"

#include "preflight/report.h"

namespace convoy::preflight {

/// The placement of a rank's threads, and the number of ranks on its node.
struct RankThreads {
  RankPlace place;
  std::int64_t ranks = 1;    ///< ranks on the node
  std::int64_t threads = 1;  ///< threads of each rank
};

/// Warns if a rank's threads are on several NUMA domains. `huge_pages` is a result of huge_pages_setting().
Finding judge_placement(const RankThreads& rank, const std::string& huge_pages);

/// Reports the placement of ranks that have been placed on processors as train places them. All ranks call it.
void check_placement(std::int64_t threads_per_rank, bool computes_on_host, Report& report);

}  // namespace convoy::preflight
