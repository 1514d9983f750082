/// Where the ranks of a job run: their nodes, and the cores that each rank may use.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "convoy/base/node_load.h"
#include "convoy/comm/communicator.h"

namespace convoy {

/// The nodes that a group of ranks runs on, and this rank's index on its own node.
struct Topology {
  std::int64_t num_nodes = 1;
  std::int64_t min_ranks_on_a_node = 1;
  std::int64_t max_ranks_on_a_node = 1;
  std::int64_t local_rank = 0;  ///< index among the ranks on this node, in the group's order
  std::int64_t local_size = 1;  ///< number of ranks on this node
};

/// Finds the nodes of the ranks. The first three fields are the same on every rank. All ranks of world call it.
Topology find_topology(const mpi::Communicator& world);

/// Returns "1 node, 4 ranks on it", "2 nodes, 4 ranks on each" or "3 nodes, 2 to 4 ranks on each".
std::string host_summary(const Topology& topology);

/// Returns the load of this rank's own node, which need not be the fullest. All ranks of world call it.
NodeLoad find_own_node_load(const mpi::Communicator& world, std::int64_t threads_per_rank);

/// Returns the load of the fullest node: the largest number of ranks on a node, and the smallest share of its ranks
/// that any node can run at once with the processors that fair_threads() counts. All ranks of world call it, and get
/// the same.
NodeLoad find_node_load(const mpi::Communicator& world, std::int64_t threads_per_rank);

/// Returns the load of the fullest node if each rank has a GPU of its own: nothing is shared. All ranks of world call
/// it.
NodeLoad find_gpu_node_load(const mpi::Communicator& world);

/// Returns "; 4 ranks on a node share cores for 2"; empty if no cores are shared.
std::string describe_sharing(const NodeLoad& node);

/// Calls `work` on all ranks at the same time or, if they share cores, on one group of each node's ranks after the
/// other: as many as can compute at once. If `in_pairs`, ranks 2 i and 2 i + 1, which work with each other, are in one
/// group. All ranks of world call it, and it begins and ends on all together.
void take_turns(const mpi::Communicator& world, const NodeLoad& node, bool in_pairs, const std::function<void()>& work);

/// Number of threads that each rank may use so that none waits for a core, at least 1: the processors of its affinity
/// mask, shared among the ranks of the node with exactly that mask, or the node's control-group quota, shared among all
/// its ranks, if that is less. All ranks of world call it and get the smallest number of any rank, as a step waits for
/// its slowest rank. `mpirun` binds a rank to one core when it starts one or two.
std::int64_t fair_threads(const mpi::Communicator& world);
/// Number of processors that a rank may keep busy by its affinity mask and its control groups, whatever the other ranks
/// do: the smallest number of any rank. All ranks of world call it, and get the same.
std::int64_t min_usable_processors(const mpi::Communicator& world);

/// Number of threads of each rank: `asked` (run.threads) or, if that is 0, fair_threads(). All ranks of world call it.
std::int64_t threads_per_rank(std::int64_t asked, const mpi::Communicator& world);

}  // namespace convoy
