/// The time that each cell takes on this device. Cuts and schedules follow from it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/comm/topology.h"
#include "convoy/model/network.h"
#include "convoy/model/partition.h"
#include "convoy/ops/backend.h"

namespace convoy {

/// The times of a cell for one micro-batch. A part that the cell does not have is 0: frozen cells have no weight
/// gradient, and cells before the first trained one have no gradient at all.
struct CellCost {
  double forward_seconds = 0;
  double backward_seconds = 0;  ///< both gradients, layer by layer
  double backward_input_seconds = 0;
  double backward_weight_seconds = 0;
  double recompute_seconds = 0;
  double evaluation_seconds = 0;    ///< forward pass when nothing is trained
  double load_weights_seconds = 0;  ///< once per update: operations copy or pack the new weights

  bool operator==(const CellCost&) const = default;
};

/// The members of CellCost in the order in which CellCosts::serialise() writes them.
inline constexpr double CellCost::*kCellCostParts[] = {
    &CellCost::forward_seconds,         &CellCost::backward_seconds,  &CellCost::backward_input_seconds,
    &CellCost::backward_weight_seconds, &CellCost::recompute_seconds, &CellCost::evaluation_seconds,
    &CellCost::load_weights_seconds};

struct CellCosts {
  std::string key;              ///< costs_key() of the measurement; empty for modelled costs
  std::vector<CellCost> cells;  ///< in the network's order

  /// Returns the costs as lines of text, which parse() reads.
  std::string serialise() const;
  /// Returns the costs in `text`, or nothing if the text is something else or has another key. Throws Error if it has
  /// this key but is damaged: cut, not of `num_cells` cells, or with times out of range.
  static std::optional<CellCosts> parse(const std::string& text, const std::string& key, std::size_t num_cells);
  bool operator==(const CellCosts&) const = default;
};

/// Returns a line that names all that the costs depend on: network, shapes, micro-batch, type, frozen layers, the
/// device with its threads, and the ranks that measure at the same time.
std::string costs_key(const NetworkSpec& network, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node);

/// Returns the last part of the keys: "4 ranks at once", or "2 of 4 ranks at once on a node, 8 in all".
std::string describe_ranks(std::int64_t ranks, const NodeLoad& node);

/// Returns costs from the model of partition.h, for when nothing has been measured.
CellCosts model_cell_costs(const Network& network, const ProcessorRates& rates = {});

/// A function that is called on all ranks after each part of a measurement, with the number of cells done, their total,
/// and the largest spread so far of a part's repetitions (convoy/base/repetitions.h).
using MeasuringListener = std::function<void(std::int64_t done, std::int64_t total, double spread)>;

/// Measures cells one after the other as a step runs them, with one micro-batch in flight. All ranks measure at the
/// same time, so that they share the memory's bandwidth, or as many of them as have cores (take_turns). A cell's time
/// is the median over several rounds and over all equal cells, on the slowest rank; the result is the same on all
/// ranks. Rounds that something else on the machine disturbed are repeated. All ranks of world call it.
CellCosts measure_cell_costs(const NetworkSpec& network, const NodeLoad& node, const mpi::Communicator& world,
                             ops::Backend& backend, const MeasuringListener& listener = {});

}  // namespace convoy
