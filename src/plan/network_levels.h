/// What messages of a step take where links inside a node are faster than those between nodes. Ranks fill node after
/// node, in the order of their numbers: rank = replica * stages + stage (process_grid.h).
#pragma once

#include <cstdint>
#include <span>

#include "convoy/comm/process_grid.h"

#include "plan/machine_rates.h"

namespace convoy {

/// One way: of gradients, or of parameters.
struct ExchangeSeconds {
  double waiting = 0;  ///< beside the arithmetic
  double copying = 0;  ///< in its place, where messages on a node are copied by the processors that compute
};

class NetworkLevels {
 public:
  NetworkLevels(const MachineRates& rates, const GridShape& grid, std::int64_t ranks_a_node);

  /// Replicas of one stage that are on a node; 1 where each has its own.
  std::int64_t replicas_on_a_node() const;

  /// From a stage to the next, of the replica whose link is slowest: between nodes where any replica has that boundary
  /// there. One message leaves a node at a time: either its replicas are whole, or it holds a part of one.
  LinkRates after_stage(std::int64_t stage) const;

  /// R replicas exchange a bucket of b bytes in rounds of f members (update/exchange_rounds.h), each of which sends f -
  /// 1 messages of the f-th part of what it holds:
  ///     sum over rounds of (f - 1) (latency + b / (f times the members of rounds before) / bandwidth)
  /// (Thakur, Rabenseifner, Gropp 2005, sections 4.1 and 4.3), each message at the rates of its level. All ranks of a
  /// node exchange at the same time: what leaves it shares its links to the network.
  ExchangeSeconds exchange(std::span<const std::int64_t> rounds, std::int64_t bytes) const;

  /// A maximum over all ranks, there and back: 2 log2 latencies of each level (recursive doubling, section 4.4).
  double agreement_seconds() const;

 private:
  bool leaves_node(std::int64_t rank, std::int64_t other) const;

  MachineRates rates_;
  GridShape grid_;
  std::int64_t ranks_a_node_;
};

}  // namespace convoy
