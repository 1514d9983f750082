/// The speed of memory and of messages, from which the costs of a step follow.
#pragma once

#include <optional>
#include <string>

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

/// Returns "5 us + 10 GB/s".
std::string describe(const LinkRates& rates);

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

}  // namespace convoy
