/// The speed of memory and messages, measured among the ranks of this job as a step uses them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "convoy/base/repetitions.h"
#include "convoy/comm/communicator.h"
#include "convoy/comm/topology.h"
#include "convoy/ops/backend.h"

namespace convoy {

/// The speed of messages between two ranks.
struct LinkRates {
  double latency_seconds = 5e-6;
  double bytes_per_second = 1e10;           ///< while one of the two sends
  double exchange_bytes_per_second = 1e10;  ///< each way while both send from uncached memory, as in exchanges

  /// Returns the time of one message, in seconds (Hockney 1994).
  double seconds(double bytes) const { return latency_seconds + bytes / bytes_per_second; }
  bool operator==(const LinkRates&) const = default;
};

/// The rates of a machine. The defaults are those of a network of 100 Gbit/s and of a core's share of main memory.
struct MachineRates {
  std::string key;                        ///< rates_key() of the measurement; empty for modelled rates
  LinkRates on_node;                      ///< between ranks of the same node
  LinkRates between_nodes;                ///< if measured: while all ranks of both nodes send
  bool copied_by_ranks = false;           ///< whether the processors that compute also copy messages on a node
  double node_bytes_per_second = 0;       ///< all that a node can send to others; 0: not limited
  double memory_bytes_per_second = 2e10;  ///< read and written by a rank's element-wise operations

  /// Returns the measured rates as lines of text, which parse() reads.
  std::string serialise() const;
  /// Returns the rates in `text`, or nothing if the text is something else or has another key. Throws Error if it has
  /// this key but is damaged: cut, or with rates out of range.
  static std::optional<MachineRates> parse(const std::string& text, const std::string& key);
  bool operator==(const MachineRates&) const = default;
};

/// Returns the longest time of all ranks of world, in seconds rounded to nanoseconds, on all of them.
double slowest(const mpi::Communicator& world, double seconds);
/// Returns the longest median and the largest spread of all ranks of world, on all of them.
Repetitions slowest(const mpi::Communicator& world, const Repetitions& mine);

/// Returns the rank on the same node with which `rank` measures messages; the last of an odd number has none. `nodes`
/// has for each rank a number that the ranks of its node have in common.
std::optional<std::int64_t> partner_on_node(std::span<const std::int64_t> nodes, std::int64_t rank);
/// Returns the rank on the neighbouring node with which `rank` measures messages: the one with the same index there.
/// Ranks of the last of an odd number of nodes have none, nor has a rank whose index the other node lacks.
std::optional<std::int64_t> partner_on_another_node(std::span<const std::int64_t> nodes, std::int64_t rank);

/// The sizes to measure with.
struct RatesSpec {
  std::int64_t message_bytes = 0;  ///< the largest message between stages
  std::int64_t arena_bytes = 0;    ///< all parameters in float32
};

/// Returns a line that names all that the rates depend on: sizes, the device with its threads, and the ranks.
std::string rates_key(const RatesSpec& spec, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node);

/// Measures messages and memory. All ranks of world call it and get the same rates.
///
/// Messages of 4 KiB and of message_bytes go to and fro between neighbours on a node, then between ranks of the same
/// index on two nodes, all pairs at the same time. Then both partners send each other pieces of arenas at once. Memory
/// is measured by adding arenas on all ranks at the same time: large arenas are not in caches, as in a step. If ranks
/// share cores, as many measure at the same time as have cores. Each result is the median of several repetitions on the
/// slowest pair or rank. A level of the network without pairs (one node, or one rank per node) gets the rates of the
/// other level; if neither has pairs, both keep the defaults of MachineRates.
MachineRates measure_rates(const RatesSpec& spec, const NodeLoad& node, const mpi::Communicator& world,
                           ops::Backend& backend);

}  // namespace convoy
