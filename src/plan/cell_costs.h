/// The time that each cell takes on a device. Cuts and schedules follow from it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "convoy/model/network.h"
#include "convoy/model/partition.h"

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

/// Returns costs from the model of partition.h, for when nothing has been measured.
CellCosts model_cell_costs(const Network& network, const ProcessorRates& rates = {});

}  // namespace convoy
