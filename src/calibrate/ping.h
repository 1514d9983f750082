/// Times messages between pairs of ranks. Calibration measures how fast the machine's messages are, and `convoy check`
/// looks for slow links.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "convoy/base/node_load.h"
#include "convoy/comm/communicator.h"
#include "convoy/comm/transport.h"
#include "convoy/device/device.h"

namespace convoy {

/// What a rank sends and receives while pairs of ranks send each other messages of one size. The ranks
/// of a pair name each other; all else is the same for both.
struct Ping {
  mpi::Communicator group;
  std::optional<std::int64_t> partner;  ///< rank in the group; none: this rank only waits for the others
  std::int64_t message_bytes = 0;
  /// Both ranks send at the same time, as replicas exchange slices. Else a message goes to and fro, as between stages.
  bool at_once = false;
  /// Successive messages are successive pieces of memory of this size, so that large memory is in no cache when its
  /// turn comes again. 0: all messages are the same piece.
  std::int64_t arena_bytes = 0;
};

/// Sends the messages of each ping several times, all pairs at the same time, one ping after the other. Returns for
/// each ping the seconds of one message in one direction, by rank of world; 0 for ranks without a partner. The result
/// is the same on all ranks. A ping whose times differ much is measured once more; the better attempt counts.
///
/// If ranks share cores (`node`), they take turns, ranks 2 i and 2 i + 1 of each node at the same time. The partner of
/// such a rank must then be rank 2 i or 2 i + 1 too, of the same node or of another one. `transport` must be new: this
/// function makes its messages, and connects it. All ranks of world call it with the same number of pings.
std::vector<std::vector<double>> ping(const std::vector<Ping>& pings, const NodeLoad& node,
                                      const mpi::Communicator& world, Transport& transport, Device& device);

/// Returns the rate at which a message of `bytes` moves after its latency, from the time of the whole message. If that
/// seems no longer than the latency, the rate is unknown: then it is as if the latency were 99.9 % of the time.
double rate_after_latency(std::int64_t bytes, double seconds, double latency_seconds);

}  // namespace convoy
