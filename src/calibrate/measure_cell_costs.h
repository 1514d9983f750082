/// Measures the time that each cell takes on this device.
#pragma once

#include <cstdint>
#include <functional>

#include "convoy/base/node_load.h"
#include "convoy/comm/communicator.h"
#include "convoy/model/network.h"
#include "convoy/ops/backend.h"

#include "plan/machine_costs.h"

namespace convoy {

/// A function that is called on all ranks after each part of a measurement, with the number of cells done, their total,
/// and the largest spread so far of a part's repetitions (convoy/base/repetitions.h).
using MeasuringListener = std::function<void(std::int64_t done, std::int64_t total, double spread)>;

/// Measures cells one after the other as a step runs them, with one micro-batch in flight. All ranks measure at the
/// same time, so that they share the memory's bandwidth, or as many of them as have cores (take_turns). A cell's time
/// is the median over several rounds and over all equal cells, on the slowest rank; the result is the same on all
/// ranks, and has no key. Rounds that something else on the machine disturbed are repeated. All ranks of world call it.
CellCosts measure_cell_costs(const NetworkSpec& network, const NodeLoad& node, const mpi::Communicator& world,
                             ops::Backend& backend, const MeasuringListener& listener = {});

}  // namespace convoy
