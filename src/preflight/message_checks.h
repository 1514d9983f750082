/// Measures every link that a training uses: between the stages of each pipeline, and among the replicas of a stage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/base/grid_shape.h"
#include "convoy/device/device.h"

#include "plan/machine_costs.h"
#include "preflight/report.h"

namespace convoy {
class Device;
}

namespace convoy::preflight {

/// Pairs of ranks that exchange messages at the same time. Each rank is in at most one pair.
///   pipeline, number n   stages 2 i + n and 2 i + n + 1 of each replica, for n = 0 and 1
///   wrap                 the last stage and the first, which are neighbours in interleaved schedules
///   replicas, number k   replicas r and r XOR 2^k of each stage, the pairs of recursive halving
struct Pairing {
  enum class Kind { kPipeline, kWrap, kReplicas } kind = Kind::kPipeline;
  std::int64_t number = 0;
};
/// Returns the pairings in which all links of the grid are used. `wraps`: also those between the last and the first
/// stage.
std::vector<Pairing> pairings_of(const GridShape& grid, bool wraps);
/// Returns the partner of `rank` in this pairing, as a rank of the world; nothing if it has none.
std::optional<std::int64_t> partner_in(const Pairing& pairing, const GridShape& grid, std::int64_t rank);

/// The times of a short and of a long message between two ranks, one way, in seconds.
struct PairTime {
  std::int64_t rank = 0, partner = 0;
  double short_seconds = 0, long_seconds = 0;
};
/// The sizes of the short and of the long message.
struct MessageSizes {
  std::int64_t short_bytes = 4096, long_bytes = 0;
};
/// What judge_messages() has to know besides the measurement: the rates that the plan assumes, with which the measured
/// ones are compared, and whether ranks share cores.
struct MessageReference {
  std::optional<MachineRates> assumed;  ///< rates of the plan; none if they are from a model
  bool cores_are_shared = false;        ///< ranks then wait for cores too, so slow pairs say nothing about the network
};
/// Names the slowest pair, with the median of all pairs and with the rates that the plan assumes. Warns if it is much
/// slower than either, unless ranks share cores. `pairs` has at least one.
Finding judge_messages(const std::vector<PairTime>& pairs, const MessageSizes& sizes, const MessageReference& reference,
                       const std::vector<std::string>& hosts);

/// What check_messages() measures.
struct ExchangeSpec {
  std::int64_t stages = 1;
  bool wraps = false;           ///< whether stages have more than one chunk
  std::int64_t long_bytes = 0;  ///< size of the long message, which is limited to 64 KiB to 16 MiB
  MessageReference reference;   ///< on rank 0
};
/// Measures all pairs of all pairings, and reports the slowest ones. All ranks call it.
void check_messages(const ExchangeSpec& spec, Device& device, Report& report);

}  // namespace convoy::preflight
