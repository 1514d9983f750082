/// Asks the node's ranks which processors they may use, and takes this rank's share of them.
#include "convoy/comm/placement.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "convoy/base/wording.h"
#include "convoy/comm/machine.h"
#include "convoy/comm/topology.h"

#include "comm/mpi/node_group.h"
#include "comm/processors.h"

namespace convoy {

void place_ranks(const mpi::Communicator& world, std::int64_t threads_per_rank) {
  const mpi::Communicator node = world.split_by_node();
  const std::vector<AffinityMask> masks = affinity_masks(node);
  const auto rank = static_cast<std::size_t>(node.rank());
  const std::optional<std::size_t> share = find_share(masks, rank, threads_per_rank, quota_processors());
  if (share) bind_process(divide_processors(own_machine(), own_processors(), threads_per_rank)[*share]);
}

RankPlace find_rank_place(const mpi::Communicator& world) {
  const mpi::Communicator node = world.split_by_node();
  const std::vector<AffinityMask> masks = affinity_masks(node);
  const AffinityMask& mine = masks[static_cast<std::size_t>(node.rank())];
  const std::int64_t users =
      std::count_if(masks.begin(), masks.end(), [&](const AffinityMask& mask) { return overlap(mask, mine); });
  return {.num_processors = count_processors(mine),
          .num_domains = own_machine().count_domains(processors_in(mine)),
          .is_own = users == 1};
}

std::string placement_summary(const mpi::Communicator& world) {
  const RankPlace mine = find_rank_place(world);
  const bool any_shares = world.max(mine.is_own ? 0 : 1) > 0;
  const std::int64_t max = world.max(mine.num_processors), min = -world.max(-mine.num_processors);
  const std::int64_t domains = world.max(mine.num_domains);
  const std::int64_t ranks = find_topology(world).max_ranks_on_a_node;
  if (any_shares) return ranks > min ? fmt::format("{} ranks share {}", ranks, counted(min, "processor")) : "";
  if (ranks == 1) return "";
  return fmt::format("each rank on {}{} {}", min == max ? "" : fmt::format("{} to ", min), counted(max, "processor"),
                     domains == 1 ? "in one NUMA domain" : fmt::format("on up to {} NUMA domains", domains));
}

}  // namespace convoy
