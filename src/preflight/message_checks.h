/// Every link that a training uses, measured: between the stages of each pipeline, and among the replicas of a stage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/comm/process_grid.h"
#include "convoy/ops/backend.h"

#include "plan/machine_rates.h"
#include "preflight/report.h"

namespace convoy::preflight {

/// Pairs of ranks that exchange messages at the same time; each rank is in one of them at most.
///   pipeline, number n   stages 2 i + n and 2 i + n + 1 of each replica, for n = 0 and 1
///   wrap                 the last stage and the first, which are neighbours where schedules are interleaved
///   replicas, number k   replicas r and r XOR 2^k of each stage, as recursive halving pairs them
struct Round {
  enum class Kind { kPipeline, kWrap, kReplicas } kind = Kind::kPipeline;
  std::int64_t number = 0;
};
std::vector<Round> rounds_of_pairs(const GridShape& grid, bool wraps);
/// The other rank of this one's pair, as a rank of the world; nothing where it has none in this round.
std::optional<std::int64_t> partner_in(const Round& round, const GridShape& grid, std::int64_t rank);

/// A pair's message there and back, seconds each way.
struct PairTime {
  std::int64_t rank = 0, partner = 0;
  double short_seconds = 0, long_seconds = 0;
};
struct MessageSizes {
  std::int64_t short_bytes = 4096, long_bytes = 0;
};
/// What the plan counts with; none where its rates are from a model.
struct MessageReference {
  std::optional<MachineRates> assumed;
  bool cores_are_shared = false;  ///< ranks then wait for cores too: slow pairs say nothing of the network
};
/// The slowest pair by name, beside the median of all of them and what the plan assumes. A warning where it is far from
/// either. At least one pair.
Finding judge_messages(const std::vector<PairTime>& pairs, const MessageSizes& sizes, const MessageReference& reference,
                       const std::vector<std::string>& hosts);

struct ExchangeSpec {
  std::int64_t stages = 1;
  bool wraps = false;  ///< more than one chunk per stage
  std::int64_t long_bytes = 0;
  MessageReference reference;  ///< on rank 0
};
/// All pairs of all rounds. All ranks.
void check_messages(const ExchangeSpec& spec, Device& device, Report& report);

}  // namespace convoy::preflight
