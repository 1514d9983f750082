/// The times of a step's messages if links inside a node are faster than those between nodes. Ranks fill node after
/// node, in the order of their numbers: rank = replica * stages + stage (grid_shape.h).
#pragma once

#include <cstdint>
#include <span>

#include "convoy/base/grid_shape.h"

#include "plan/machine_rates.h"

namespace convoy {

/// The time of one exchange of gradients, or of one exchange of parameters, in seconds.
struct ExchangeSeconds {
  double waiting = 0;  ///< time during which the processors can compute
  double copying = 0;  ///< time in which the processors that compute copy messages on a node instead
};

class NetworkLevels {
 public:
  NetworkLevels(const MachineRates& rates, const GridShape& grid, std::int64_t ranks_a_node);

  /// Returns the number of replicas of one stage on a node; 1 if each is on a node of its own.
  std::int64_t replicas_on_a_node() const;

  /// Returns the rates of messages from a stage to the next on the replica with the slowest link: those between nodes
  /// if any replica has that boundary between nodes. Messages do not share a link, because one message leaves a node at
  /// a time: a node has either whole replicas or a part of one.
  LinkRates after_stage(std::int64_t stage) const;

  /// Returns the time in which R replicas exchange a bucket of b bytes in rounds of f members
  /// (update/exchange_rounds.h). Each member sends f - 1 messages of the f-th part of what it holds:
  ///     sum over rounds of (f - 1) (latency + b / (f times the members of all earlier rounds) / bandwidth)
  /// (Thakur, Rabenseifner, Gropp 2005, sections 4.1 and 4.3), with the rates of each message's level. All ranks of a
  /// node exchange at the same time, so messages that leave it share its links to the network.
  ExchangeSeconds exchange(std::span<const std::int64_t> rounds, std::int64_t bytes) const;

  /// Returns the time of a maximum over all ranks, there and back, in seconds: 2 log2(ranks of the level) latencies of
  /// each level (recursive doubling, section 4.4).
  double agreement_seconds() const;

 private:
  bool leaves_node(std::int64_t rank, std::int64_t other) const;

  MachineRates rates_;
  GridShape grid_;
  std::int64_t ranks_a_node_;
};

}  // namespace convoy
