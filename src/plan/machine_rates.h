/// How fast memory and messages are here: measured among the ranks that are there, as a step uses them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convoy/comm/communicator.h"
#include "convoy/comm/topology.h"
#include "convoy/ops/backend.h"

namespace convoy {

/// Without a measurement: a network of 100 Gbit/s, and a core's share of main memory.
struct MachineRates {
  std::string key;  ///< of what was measured: rates_key(); empty where they are modelled
  double latency_seconds = 5e-6;
  double bytes_per_second = 1e10;         ///< of a message
  double memory_bytes_per_second = 2e10;  ///< read and written by a rank's element-wise operations

  /// Lines of text, and back; nothing where the text is something else, or has another key. Throws Error where it has
  /// this key and cannot be what was written: cut, or with rates that nothing has.
  std::string serialise() const;
  static std::optional<MachineRates> parse(const std::string& text, const std::string& key);
  bool operator==(const MachineRates&) const = default;
};

/// That of all ranks of world that took longest, in whole nanoseconds: the same on all of them.
double slowest(const mpi::Communicator& world, double seconds);

struct RatesSpec {
  std::int64_t message_bytes = 0;  ///< between stages, the largest there is
  std::int64_t arena_bytes = 0;    ///< of all parameters
};

/// Device with its threads, ranks, and sizes.
std::string rates_key(const RatesSpec& spec, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node);

/// Messages of 4 KiB and of message_bytes go to and fro between neighbours, all pairs at the same time; memory adds
/// arenas, on all ranks at the same time: large ones are not in caches, in a step either. Where ranks share cores, as
/// many at the same time as have cores. The median of several; of the slowest pair, and rank: the same on all ranks of
/// world. One rank alone has no messages: they are modelled.
MachineRates measure_rates(const RatesSpec& spec, const NodeLoad& node, const mpi::Communicator& world,
                           ops::Backend& backend);

}  // namespace convoy
