/// Where the ranks of a job sit: nodes, and the cores that each rank may use.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "convoy/comm/communicator.h"

namespace convoy {

/// The nodes under a group of ranks, and this rank's index on its own node.
struct Topology {
  std::int64_t num_nodes = 1;
  std::int64_t min_ranks_on_a_node = 1;
  std::int64_t max_ranks_on_a_node = 1;
  std::int64_t local_rank = 0;  ///< among the ranks on this node, in the group's order
  std::int64_t local_size = 1;  ///< how many ranks are on this node
};

/// All ranks of world. The first three fields are the same on every rank.
Topology find_topology(const mpi::Communicator& world);

/// "1 node, 4 ranks on it", "2 nodes, 4 ranks on each", "3 nodes, 2 to 4 ranks on each".
std::string host_summary(const Topology& topology);

/// How many of a node's ranks can compute at the same time, each with all its threads: fewer than `ranks` where a node
/// has more threads than processors. May be a fraction: 1.5 of 2 ranks with two threads on 3 processors.
struct NodeLoad {
  std::int64_t ranks = 1;
  double ranks_at_once = 1;

  bool is_shared() const { return ranks_at_once < static_cast<double>(ranks); }
  bool operator==(const NodeLoad&) const = default;
};

/// Of this rank's own node, which may be another than the fullest. All ranks of world.
NodeLoad find_own_node_load(const mpi::Communicator& world, std::int64_t threads_per_rank);

/// Of the fullest node, by the processors that fair_threads() counts. All ranks of world, and the same on all of them.
NodeLoad find_node_load(const mpi::Communicator& world, std::int64_t threads_per_rank);

/// Of the fullest node where each rank has a GPU of its own: nothing is shared. All ranks of world.
NodeLoad find_gpu_node_load(const mpi::Communicator& world);

/// "; 4 ranks on a node share cores for 2"; empty where none are shared.
std::string describe_sharing(const NodeLoad& node);

/// Calls `work` on all ranks at the same time or, where they share cores, on so many of each node as can compute at
/// once, one such group after the other. Ranks that work with each other are in one group: those of numbers 2 i and
/// 2 i + 1 where `in_pairs`. All ranks of world, for whom it begins and ends together.
void take_turns(const mpi::Communicator& world, const NodeLoad& node, bool in_pairs, const std::function<void()>& work);

/// The threads that each rank may use so that none waits for a core: the processors of its affinity mask, shared
/// among the ranks of the node with exactly that mask, or the node's control-group quota shared among all its ranks,
/// where that is less; at least 1. All ranks of world, and the same on all of them (the smallest that one rank has): a
/// step waits for its slowest rank. `mpirun` binds a rank to one core when it starts one or two.
std::int64_t fair_threads(const mpi::Communicator& world);
/// The processors that a rank may keep busy by its affinity mask and its control groups, whatever the other ranks do:
/// the fewest that one rank has. All ranks of world, and the same on all of them.
std::int64_t min_usable_processors(const mpi::Communicator& world);

/// The threads that are asked for (run.threads) or, where that is 0, fair_threads(). All ranks of world.
std::int64_t threads_per_rank(std::int64_t asked, const mpi::Communicator& world);

}  // namespace convoy
