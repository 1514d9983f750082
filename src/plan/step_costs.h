/// Computes the costs of a step's instructions from those of cells, memory and messages: schedules and the planner use
/// them.
#pragma once

#include <vector>

#include "convoy/comm/topology.h"
#include "convoy/schedule/costs.h"

#include "plan/cell_costs.h"
#include "plan/machine_rates.h"
#include "plan/stage_plan.h"

namespace convoy {

/// All that a step's costs follow from; measured, or modelled. Cells and rates are those of ranks that have the cores
/// for their threads; where a node has too few cores for all its ranks, these share them.
struct MachineCosts {
  CellCosts cells;
  MachineRates rates;
  NodeLoad node = {};  ///< as on every node

  bool is_measured() const { return !cells.key.empty(); }
  bool operator==(const MachineCosts&) const = default;
};

MachineCosts model_machine_costs(const Network& network, const ProcessorRates& rates = {});

/// Of one replica.
///   forward, backward   sums over a chunk's cells. A cell that is recomputed is so in backward, and where that is
///                       split in both parts. Backward has its share of the gradient tree: n leaves are n - 1 sums
///   image, loss         what they move at the memory's rate
///   messages            network_levels.h; with a reduce go the folds between its rounds. What ranks copy themselves of
///                       gradients and parameters is arithmetic: of the fold and of the update
///   fold, update        what they move at the memory's rate; with an update goes the loading of its cells' new weights
///   shared cores        node after node is filled with ranks; on each, so many compute at once
PipelineCosts step_costs(const Network& network, const std::vector<StagePlan>& stages, const StageUse& use,
                         const MachineCosts& machine);

}  // namespace convoy
