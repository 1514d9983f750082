/// Ranks by node, found by asking MPI which of them share memory.
#include "convoy/comm/topology.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <fmt/core.h>

#include "convoy/base/wording.h"

#include "comm/mpi/node_group.h"
#include "comm/processors.h"

namespace convoy {

namespace {

// Number of ranks of the node with the same mask as this one, itself included. All ranks of the node call it.
std::int64_t count_sharers(const mpi::Communicator& node) {
  const std::vector<AffinityMask> masks = affinity_masks(node);
  return std::count(masks.begin(), masks.end(), masks[static_cast<std::size_t>(node.rank())]);
}

// The share of the threads of this node's ranks that have a processor at the same time: 1 if each has one. All ranks of
// the node call it.
double share_of_processors(const mpi::Communicator& node, std::int64_t threads_per_rank) {
  const auto share_of = [threads_per_rank](std::int64_t processors, std::int64_t ranks) {
    return static_cast<double>(processors) / static_cast<double>(threads_per_rank * ranks);
  };
  return std::min({1.0, share_of(count_processors(affinity_mask()), count_sharers(node)),
                   share_of(quota_processors(), node.size())});
}

}  // namespace

Topology find_topology(const mpi::Communicator& world) {
  const mpi::Communicator node = world.split_by_node();
  const std::int64_t size = node.size();
  return {.num_nodes = world.sum(node.rank() == 0 ? 1 : 0),
          .min_ranks_on_a_node = -world.max(-size),
          .max_ranks_on_a_node = world.max(size),
          .local_rank = node.rank(),
          .local_size = size};
}

std::string host_summary(const Topology& topology) {
  const std::int64_t min = topology.min_ranks_on_a_node;
  const std::int64_t max = topology.max_ranks_on_a_node;
  const std::string ranks = min < max ? fmt::format("{} to {} ranks", min, max) : counted(max, "rank");
  if (topology.num_nodes == 1) return fmt::format("1 node, {} on it", ranks);
  return fmt::format("{} nodes, {} on each", topology.num_nodes, ranks);
}

NodeLoad find_own_node_load(const mpi::Communicator& world, std::int64_t threads_per_rank) {
  const mpi::Communicator node = world.split_by_node();
  const double share = share_of_processors(node, threads_per_rank);
  const std::int64_t ranks = node.size();
  return {.ranks = ranks, .ranks_at_once = std::max(1.0, share * static_cast<double>(ranks))};
}

NodeLoad find_node_load(const mpi::Communicator& world, std::int64_t threads_per_rank) {
  constexpr double kUnit = 1e6;  // parts of a node's ranks, as a whole number that ranks can compare
  const mpi::Communicator node = world.split_by_node();
  const double mine = share_of_processors(node, threads_per_rank);
  const double share = static_cast<double>(-world.max(-std::llround(mine * kUnit))) / kUnit;  // the least of all ranks
  const std::int64_t ranks = world.max(node.size());
  return {.ranks = ranks, .ranks_at_once = std::max(1.0, share * static_cast<double>(ranks))};
}

NodeLoad find_gpu_node_load(const mpi::Communicator& world) {
  const std::int64_t ranks = find_topology(world).max_ranks_on_a_node;
  return {.ranks = ranks, .ranks_at_once = static_cast<double>(ranks)};
}

std::string describe_sharing(const NodeLoad& node) {
  return node.is_shared()
             ? fmt::format("; a node has {} ranks, but cores for only {:g} of them", node.ranks, node.ranks_at_once)
             : "";
}

// A node's ranks are expected to follow each other in world; if they do not, only the groups are others.
void take_turns(const mpi::Communicator& world, const NodeLoad& node, bool in_pairs,
                const std::function<void()>& work) {
  const std::int64_t unit = in_pairs ? 2 : 1;  // ranks that go together
  const std::int64_t units = (node.ranks + unit - 1) / unit;
  const std::int64_t at_once =
      node.is_shared() ? std::max<std::int64_t>(1, std::llround(std::floor(node.ranks_at_once + 1e-3)) / unit) : units;
  const std::int64_t mine = world.rank() / unit % units / at_once;
  for (std::int64_t turn = 0; turn < (units + at_once - 1) / at_once; ++turn) {
    world.barrier();
    if (turn == mine) work();
  }
  world.barrier();
}

std::int64_t fair_threads(const mpi::Communicator& world) {
  const mpi::Communicator node = world.split_by_node();
  const std::int64_t by_mask = count_processors(affinity_mask()) / count_sharers(node);
  const std::int64_t by_quota = quota_processors() / node.size();
  const std::int64_t mine = std::max<std::int64_t>(1, std::min(by_mask, by_quota));
  return -world.max(-mine);  // the least of all ranks
}

std::int64_t min_usable_processors(const mpi::Communicator& world) {
  return -world.max(-usable_processors());
}

std::int64_t threads_per_rank(std::int64_t asked, const mpi::Communicator& world) {
  return asked > 0 ? asked : fair_threads(world);
}

}  // namespace convoy
