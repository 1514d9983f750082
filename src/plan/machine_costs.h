/// The time that each cell takes on a device, and the speed of memory and of messages: measured, read from a file, from
/// a model, or as the keys of [plan] describe a cluster that is not present. Cuts, schedules and the costs of a step
/// follow from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/base/node_load.h"
#include "convoy/model/network.h"
#include "convoy/model/partition.h"

namespace convoy {

struct PlanParams;

/// The speed of messages between two ranks.
struct LinkRates {
  double latency_seconds = 5e-6;
  double bytes_per_second = 1e10;           ///< rate while one of the two sends
  double exchange_bytes_per_second = 1e10;  ///< rate each way while both send from uncached memory, as in exchanges

  /// Returns the time of one message, in seconds (Hockney 1994).
  double seconds(double bytes) const { return latency_seconds + bytes / bytes_per_second; }
  bool operator==(const LinkRates&) const = default;
};

/// Returns "5 us + 10 GB/s".
std::string describe(const LinkRates& rates);

/// The rates of a machine. The defaults are those of a network of 100 Gbit/s and of a core's share of main memory.
struct MachineRates {
  std::string key;                        ///< rates_key() of the measurement; empty for modelled rates
  LinkRates on_node;                      ///< rates between ranks of the same node
  LinkRates between_nodes;                ///< rates between nodes; if measured, all ranks of both nodes send at once
  bool copied_by_ranks = false;           ///< whether the processors that compute also copy messages on a node
  double node_bytes_per_second = 0;       ///< rate at which a node can send to all others; 0: not limited
  double memory_bytes_per_second = 2e10;  ///< rate at which a rank's element-wise operations read and write

  /// Returns the measured rates as lines of text, which parse() reads.
  std::string serialise() const;
  /// Returns the rates in `text`, or nothing if the text is something else or has another key. Throws Error if it has
  /// this key but is damaged: cut, or with rates out of range.
  static std::optional<MachineRates> parse(const std::string& text, const std::string& key);
  bool operator==(const MachineRates&) const = default;
};

/// The times of a cell for one micro-batch. A part that the cell does not have is 0: frozen cells have no weight
/// gradient, and cells before the first trained one have no gradient at all.
struct CellCost {
  double forward_seconds = 0;
  double backward_seconds = 0;  ///< time of both gradients, layer by layer
  double backward_input_seconds = 0;
  double backward_weight_seconds = 0;
  double recompute_seconds = 0;
  double evaluation_seconds = 0;    ///< time of the forward if nothing is trained
  double load_weights_seconds = 0;  ///< time per update to copy or pack the new weights

  bool operator==(const CellCost&) const = default;
};

/// The members of CellCost in the order in which CellCosts::serialise() writes them.
inline constexpr double CellCost::*kCellCostParts[] = {
    &CellCost::forward_seconds,         &CellCost::backward_seconds,  &CellCost::backward_input_seconds,
    &CellCost::backward_weight_seconds, &CellCost::recompute_seconds, &CellCost::evaluation_seconds,
    &CellCost::load_weights_seconds};

/// The times of all cells of a network.
struct CellCosts {
  std::string key;              ///< costs_key() of the measurement; empty for modelled costs
  std::vector<CellCost> cells;  ///< costs of each cell, in the network's order

  /// Returns the costs as lines of text, which parse() reads.
  std::string serialise() const;
  /// Returns the costs in `text`, or nothing if the text is something else or has another key. Throws Error if it has
  /// this key but is damaged: cut, not of `num_cells` cells, or with times out of range.
  static std::optional<CellCosts> parse(const std::string& text, const std::string& key, std::size_t num_cells);
  bool operator==(const CellCosts&) const = default;
};

/// Returns costs from the model of partition.h, for when nothing has been measured.
CellCosts model_cell_costs(const Network& network, const ProcessorRates& rates = {});

/// All that a step's costs follow from, measured or modelled. Costs of cells and rates are those of ranks with a core
/// per thread; if a node has too few cores for all its ranks, `node` says how they share them.
struct MachineCosts {
  CellCosts cells;
  MachineRates rates;
  NodeLoad node = {};  ///< load of each node; it is the same on all

  bool is_measured() const { return !cells.key.empty(); }
  bool operator==(const MachineCosts&) const = default;
};

/// Returns modelled costs of the network's cells, and the default rates of messages and memory.
MachineCosts model_machine_costs(const Network& network, const ProcessorRates& rates = {});

/// Returns the rates of plan.tflop_s and plan.memory_gb_s; those of a core for keys that are not given.
ProcessorRates processor_rates(const PlanParams& plan);

/// Replaces measured or modelled costs of nodes, messages and memory by those that [plan] gives.
void describe_cluster(const PlanParams& plan, MachineCosts& costs);

/// Returns whether [plan] gives any rate of messages.
bool describes_messages(const PlanParams& plan);

/// Returns the expected largest of n numbers from a normal distribution, in standard deviations. A step of n ranks that
/// wait for each other takes that much longer than a step of one rank. Blom's formula (1958, "Statistical estimates and
/// transformed beta-variables") is right to 1 %: the quantile of (n - 3/8) / (n + 1/4).
double expected_max_of_normals(std::int64_t n);

}  // namespace convoy
