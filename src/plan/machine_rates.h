/// How fast memory and messages are here: measured among the ranks that are there, as a step uses them.
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

/// Of messages between two ranks.
struct LinkRates {
  double latency_seconds = 5e-6;
  double bytes_per_second = 1e10;           ///< of what one of them sends
  double exchange_bytes_per_second = 1e10;  ///< while both send, from memory that no cache holds: gradients, parameters

  /// Of one message (Hockney 1994).
  double seconds(double bytes) const { return latency_seconds + bytes / bytes_per_second; }
  bool operator==(const LinkRates&) const = default;
};

/// Without a measurement: a network of 100 Gbit/s, and a core's share of main memory.
struct MachineRates {
  std::string key;               ///< of what was measured: rates_key(); empty where they are modelled
  LinkRates on_node;             ///< between ranks of a node
  LinkRates between_nodes;       ///< while all ranks of both nodes send, where it was measured
  bool copied_by_ranks = false;  ///< messages on a node, by the processors that compute: they cannot do both at a time
  double node_bytes_per_second = 0;       ///< all that a node can send to others; 0: no limit but that of its ranks
  double memory_bytes_per_second = 2e10;  ///< read and written by a rank's element-wise operations

  /// Lines of text, and back; nothing where the text is something else, or has another key. Throws Error where it has
  /// this key and cannot be what was written: cut, or with rates that nothing has.
  std::string serialise() const;
  static std::optional<MachineRates> parse(const std::string& text, const std::string& key);
  bool operator==(const MachineRates&) const = default;
};

/// That of all ranks of world that took longest, in whole nanoseconds: the same on all of them.
double slowest(const mpi::Communicator& world, double seconds);
/// The longest median and the largest spread of all ranks of world: the same on all of them.
Repetitions slowest(const mpi::Communicator& world, const Repetitions& mine);

/// Who measures messages with whom: neighbours in pairs; nobody for the last of an odd number. `nodes`: by rank, a
/// number that the ranks of a node have in common.
std::optional<std::int64_t> partner_on_node(std::span<const std::int64_t> nodes, std::int64_t rank);
std::optional<std::int64_t> partner_on_another_node(std::span<const std::int64_t> nodes, std::int64_t rank);

struct RatesSpec {
  std::int64_t message_bytes = 0;  ///< between stages, the largest there is
  std::int64_t arena_bytes = 0;    ///< of all parameters
};

/// Device with its threads, ranks, and sizes.
std::string rates_key(const RatesSpec& spec, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node);

/// Messages of 4 KiB and of message_bytes go to and fro between neighbours on a node, then between ranks of the same
/// number on two nodes, all pairs at the same time; then both partners send each other pieces of arenas. Memory adds
/// arenas, on all ranks at the same time: large ones are not in caches, in a step either. Where ranks share cores, as
/// many at the same time as have cores. The median of several; of the slowest pair, and rank: the same on all ranks of
/// world. A level of the network that no pair has (one rank, one node, a rank per node) gets the other's rates, and
/// where neither has one, those of the model.
MachineRates measure_rates(const RatesSpec& spec, const NodeLoad& node, const mpi::Communicator& world,
                           ops::Backend& backend);

}  // namespace convoy
