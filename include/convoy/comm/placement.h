/// Which of a node's processors each rank computes on, so that its threads stay near each other and near their memory.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/comm/communicator.h"

namespace convoy {

/// Where ranks of a node share processors and their threads fill them, keeps each on processors of its own, within as
/// few NUMA domains and caches as possible: this process's threads, and those that they will make. Others stay as they
/// are. fair_threads() and find_node_load() are the same before and after. All ranks of world.
void place_ranks(const mpi::Communicator& world, std::int64_t threads_per_rank);

/// What a rank computes on.
struct RankPlace {
  std::int64_t num_processors = 1;
  std::int64_t num_domains = 1;  ///< of memory (NUMA), on which these processors lie
  bool is_own = true;            ///< no other rank of its node may use them
};
/// All ranks of world.
RankPlace find_rank_place(const mpi::Communicator& world);

/// "each rank on 8 processors in one NUMA domain", "4 ranks share 2 processors"; empty where ranks share as many
/// processors as there are ranks or more, or where each is alone on its node. All ranks of world, and the same on all
/// of them.
std::string placement_summary(const mpi::Communicator& world);

}  // namespace convoy
