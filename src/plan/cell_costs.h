/// Seconds that each cell takes on this device: the planner cuts and schedules by them.
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

/// Of one micro-batch. Zero where there is nothing to do: frozen cells have no weight gradient, and those before the
/// first that is trained none at all.
struct CellCost {
  double forward_seconds = 0;
  double backward_seconds = 0;  ///< both parts, layer by layer
  double backward_input_seconds = 0;
  double backward_weight_seconds = 0;
  double recompute_seconds = 0;
  double evaluation_seconds = 0;    ///< forward, when nothing is trained
  double load_weights_seconds = 0;  ///< once per update: operations copy or pack the new weights

  bool operator==(const CellCost&) const = default;
};

/// As they stand in a line of text.
inline constexpr double CellCost::*kCellCostParts[] = {
    &CellCost::forward_seconds,         &CellCost::backward_seconds,  &CellCost::backward_input_seconds,
    &CellCost::backward_weight_seconds, &CellCost::recompute_seconds, &CellCost::evaluation_seconds,
    &CellCost::load_weights_seconds};

struct CellCosts {
  std::string key;              ///< of what was measured: costs_key(); empty where they are modelled
  std::vector<CellCost> cells;  ///< of the network, in order

  /// Lines of text, and back; nothing where the text is something else, or has another key. Throws Error where it has
  /// this key and cannot be what was written: cut, not of `num_cells` cells, or with times that no cell takes.
  std::string serialise() const;
  static std::optional<CellCosts> parse(const std::string& text, const std::string& key, std::size_t num_cells);
  bool operator==(const CellCosts&) const = default;
};

/// Network, shapes, micro-batch, type, what is frozen, the device with its threads, and which ranks measure at once.
std::string costs_key(const NetworkSpec& network, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node);

/// The last part of the keys: "4 ranks at once", or "2 of 4 ranks at once on a node, 8 in all".
std::string describe_ranks(std::int64_t ranks, const NodeLoad& node);

/// From the model of partition.h: where nothing can be measured.
CellCosts model_cell_costs(const Network& network, const ProcessorRates& rates = {});

/// Is told after each part of a measurement how many cells of how many are measured, and the largest spread so far of a
/// part's repetitions (convoy/base/repetitions.h), on all ranks.
using MeasuringListener = std::function<void(std::int64_t done, std::int64_t total, double spread)>;

/// Measures cells one after the other as a step runs them, with one micro-batch in flight; all ranks at the same time,
/// so that they share the memory's bandwidth, or as many as have cores (take_turns). A cell's time is the median of
/// several rounds and of all cells equal to it, and that of the slowest rank: the same on all of them. Rounds that
/// something else on the machine disturbed are made again. All ranks of world.
CellCosts measure_cell_costs(const NetworkSpec& network, const NodeLoad& node, const mpi::Communicator& world,
                             ops::Backend& backend, const MeasuringListener& listener = {});

}  // namespace convoy
