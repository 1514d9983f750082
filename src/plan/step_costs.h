/// Computes the costs of a step's instructions from those of cells, memory and messages, for schedules and the planner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/base/grid_shape.h"
#include "convoy/schedule/costs.h"

#include "plan/machine_costs.h"
#include "plan/stage_plan.h"

namespace convoy {

/// The time of one exchange of gradients, or of one exchange of parameters, in seconds.
struct ExchangeSeconds {
  double waiting = 0;  ///< time during which the processors can compute
  double copying = 0;  ///< time in which the processors that compute copy messages on a node instead
};

/// The times of a step's messages if links inside a node are faster than those between nodes. Ranks fill node after
/// node, in the order of their numbers: rank = replica * stages + stage (grid_shape.h).
class NetworkLevels {
 public:
  NetworkLevels(const MachineRates& rates, const GridShape& grid, std::int64_t ranks_a_node);

  /// Returns the number of replicas of one stage on a node; 1 if each is on a node of its own.
  std::int64_t replicas_on_a_node() const { return std::max<std::int64_t>(1, ranks_a_node_ / grid_.stages); }

  /// Returns the rates of messages from a stage to the next on the replica with the slowest link: those between nodes
  /// if any replica has that boundary between nodes. Messages do not share a link, because one message leaves a node at
  /// a time: a node has either whole replicas or a part of one.
  LinkRates after_stage(std::int64_t stage) const;

  /// Returns the time in which R replicas exchange a bucket of b bytes in phases of f members
  /// (update/exchange_phases.h). Each member sends f - 1 messages of the f-th part of what it holds:
  ///     sum over phases of (f - 1) (latency + b / (f times the members of all earlier phases) / bandwidth)
  /// (Thakur, Rabenseifner, Gropp 2005, sections 4.1 and 4.3), with the rates of each message's level. All ranks of a
  /// node exchange at the same time, so messages that leave it share its links to the network.
  ExchangeSeconds exchange(std::span<const std::int64_t> phases, std::int64_t bytes) const;

  /// Returns the time of a maximum over all ranks, there and back, in seconds: 2 log2(ranks of the level) latencies of
  /// each level (recursive doubling, section 4.4).
  double agreement_seconds() const;

 private:
  bool leaves_node(std::int64_t rank, std::int64_t other) const;

  MachineRates rates_;
  GridShape grid_;
  std::int64_t ranks_a_node_;
};

/// Returns the costs of one replica's step.
///   forward, backward   the sums over a chunk's cells. A recomputed cell is recomputed in the backward, and in both
///                       parts of a split one. The backward includes its share of the gradient tree, which has n - 1
///                       sums for n leaves
///   load, loss          the bytes that they move, divided by the memory's rate
///   messages            see NetworkLevels. A reduce includes the folds between its phases. If ranks copy gradients
///                       and parameters themselves, the copying is arithmetic of the fold and of the update
///   fold, update        the bytes that they move, divided by the memory's rate. An update includes the loading of its
///                       cells' new weights
///   shared cores        ranks fill node after node; on each node machine.node.ranks_at_once of them compute at once
PipelineCosts step_costs(const Network& network, const std::vector<StagePlan>& stages, const StageUse& use,
                         const MachineCosts& machine);

}  // namespace convoy
