/// Whether each rank computes near its memory.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/comm/placement.h"

#include "preflight/report.h"

namespace convoy::preflight {

/// A rank's threads, and those of the others on its node.
struct RankThreads {
  RankPlace place;
  std::int64_t ranks = 1;    ///< on the node
  std::int64_t threads = 1;  ///< of each rank
};

/// `huge_pages`: as huge_pages_setting() has it. A warning where threads are on several NUMA domains.
Finding judge_placement(const RankThreads& rank, const std::string& huge_pages);

/// Of ranks that have been placed as train does it. All ranks.
void check_placement(std::int64_t threads_per_rank, bool computes_on_host, Report& report);

}  // namespace convoy::preflight
