/// Computes the costs of a step's instructions from those of cells, memory and messages, for schedules and the planner.
#pragma once

#include <vector>

#include "convoy/base/node_load.h"
#include "convoy/schedule/costs.h"

#include "plan/cell_costs.h"
#include "plan/machine_rates.h"
#include "plan/stage_plan.h"

namespace convoy {

/// All that a step's costs follow from, measured or modelled. Costs of cells and rates are those of ranks with a core
/// per thread; if a node has too few cores for all its ranks, `node` says how they share them.
struct MachineCosts {
  CellCosts cells;
  MachineRates rates;
  NodeLoad node = {};  ///< the same on every node

  bool is_measured() const { return !cells.key.empty(); }
  bool operator==(const MachineCosts&) const = default;
};

/// Returns modelled costs of the network's cells, and the default rates of messages and memory.
MachineCosts model_machine_costs(const Network& network, const ProcessorRates& rates = {});

/// Returns the costs of one replica's step.
///   forward, backward   the sums over a chunk's cells. A recomputed cell is recomputed in the backward, and in both
///                       parts of a split one. The backward includes its share of the gradient tree, which has n - 1
///                       sums for n leaves
///   load, loss          the bytes that they move, divided by the memory's rate
///   messages            see network_levels.h. A reduce includes the folds between its rounds. If ranks copy gradients
///                       and parameters themselves, the copying is arithmetic of the fold and of the update
///   fold, update        the bytes that they move, divided by the memory's rate. An update includes the loading of its
///                       cells' new weights
///   shared cores        ranks fill node after node; on each node machine.node.ranks_at_once of them compute at once
PipelineCosts step_costs(const Network& network, const std::vector<StagePlan>& stages, const StageUse& use,
                         const MachineCosts& machine);

}  // namespace convoy
