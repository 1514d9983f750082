/// Decides which of a node's processors each rank computes on, so that its threads stay near each other and near their
/// memory.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/comm/communicator.h"

namespace convoy {

/// Binds each rank to processors of its own, within as few NUMA domains and caches as possible, provided that ranks of
/// a node share processors and have exactly one thread for each. Binds all threads of this process, and those that they
/// will create. If the condition does not hold, the rank is not bound. The results of fair_threads() and
/// find_node_load() do not change. All ranks of world call it.
void place_ranks(const mpi::Communicator& world, std::int64_t threads_per_rank);

/// The processors that a rank computes on.
struct RankPlace {
  std::int64_t num_processors = 1;
  std::int64_t num_domains = 1;  ///< number of NUMA domains that these processors are in
  bool is_own = true;            ///< true: no other rank of the node may use these processors
};
/// Returns the processors of this rank. All ranks of world call it.
RankPlace find_rank_place(const mpi::Communicator& world);

/// Returns a description: "each rank on 8 processors in one NUMA domain" or "4 ranks share 2 processors". Empty if
/// ranks share processors but there are enough for all, or if each rank is alone on its node. All ranks of world call
/// it, and get the same.
std::string placement_summary(const mpi::Communicator& world);

}  // namespace convoy
