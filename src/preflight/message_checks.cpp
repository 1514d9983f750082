/// See message_checks.h.
#include "preflight/message_checks.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/core.h>

#include "convoy/base/median.h"
#include "convoy/base/wording.h"
#include "convoy/comm/process_grid.h"
#include "convoy/comm/transport.h"

#include "calibrate/ping.h"

namespace convoy::preflight {

namespace {

// Links inside a node and links between nodes differ by less than these factors; broken links are slower by more.
constexpr double kFarFromMedian = 20, kFarFromPlan = 4;
constexpr std::int64_t kMinLongBytes = std::int64_t{1} << 16, kMaxLongBytes = std::int64_t{1} << 24;

LinkRates rates_of(const PairTime& pair, const MessageSizes& sizes) {
  return {.latency_seconds = pair.short_seconds,
          .bytes_per_second =
              rate_after_latency(sizes.long_bytes - sizes.short_bytes, pair.long_seconds, pair.short_seconds)};
}

// Returns this rank's messages of a size in a pairing. Between replicas they go both ways at once, as slices do.
Ping ping_in(const Pairing& pairing, const ProcessGrid& grid, std::int64_t bytes) {
  const std::int64_t stages = grid.num_stages();
  const bool among_replicas = pairing.kind == Pairing::Kind::kReplicas;
  auto partner = partner_in(pairing, {.stages = stages, .replicas = grid.num_replicas()}, grid.world().rank());
  if (partner) partner = among_replicas ? *partner / stages : *partner % stages;
  return {.group = among_replicas ? grid.data() : grid.model(),
          .partner = partner,
          .message_bytes = bytes,
          .at_once = among_replicas};
}

}  // namespace

std::vector<Pairing> pairings_of(const GridShape& grid, bool wraps) {
  std::vector<Pairing> pairings;
  for (std::int64_t n = 0; n < std::min<std::int64_t>(2, grid.stages - 1); ++n)
    pairings.push_back({Pairing::Kind::kPipeline, n});
  if (wraps && grid.stages > 2) pairings.push_back({Pairing::Kind::kWrap, 0});
  for (std::int64_t k = 0; (std::int64_t{1} << k) < grid.replicas; ++k)
    pairings.push_back({Pairing::Kind::kReplicas, k});
  return pairings;
}

std::optional<std::int64_t> partner_in(const Pairing& pairing, const GridShape& grid, std::int64_t rank) {
  const std::int64_t stage = rank % grid.stages, replica = rank / grid.stages;
  if (pairing.kind == Pairing::Kind::kReplicas) {
    const std::int64_t other = replica ^ (std::int64_t{1} << pairing.number);
    return other < grid.replicas ? std::optional(other * grid.stages + stage) : std::nullopt;
  }
  std::int64_t other = (stage + pairing.number) % 2 == 0 ? stage + 1 : stage - 1;
  if (pairing.kind == Pairing::Kind::kWrap) other = stage == 0 ? grid.stages - 1 : stage == grid.stages - 1 ? 0 : -1;
  return other >= 0 && other < grid.stages ? std::optional(replica * grid.stages + other) : std::nullopt;
}

Finding judge_messages(const std::vector<PairTime>& pairs, const MessageSizes& sizes, const MessageReference& reference,
                       const std::vector<std::string>& hosts) {
  std::vector<double> seconds, latencies, rates;
  for (const PairTime& pair : pairs) {
    seconds.push_back(pair.long_seconds);
    latencies.push_back(pair.short_seconds);
    rates.push_back(rates_of(pair, sizes).bytes_per_second);
  }
  const PairTime& slowest = *std::ranges::max_element(pairs, {}, &PairTime::long_seconds);
  const auto host_of = [&](std::int64_t rank) { return hosts[static_cast<std::size_t>(rank)]; };
  const LinkRates medians{.latency_seconds = median(latencies), .bytes_per_second = median(rates)};
  std::string text =
      fmt::format("{}: {}; the slowest, rank {} on {} with rank {} on {}: {}", counted(std::ssize(pairs), "pair"),
                  describe(medians), slowest.rank, host_of(slowest.rank), slowest.partner, host_of(slowest.partner),
                  describe(rates_of(slowest, sizes)));
  bool is_slow = slowest.long_seconds > kFarFromMedian * median(seconds);
  if (reference.assumed) {
    const bool is_on_node = host_of(slowest.rank) == host_of(slowest.partner);
    const LinkRates& assumed = is_on_node ? reference.assumed->on_node : reference.assumed->between_nodes;
    const double expected = assumed.seconds(static_cast<double>(sizes.long_bytes));
    text += fmt::format("; the plan assumes {}", describe(assumed));
    is_slow = is_slow || slowest.long_seconds > kFarFromPlan * expected;
  }
  if (reference.cores_are_shared) return ok(text + "; ranks share cores, so these times include waiting for a core");
  if (!is_slow) return ok(text);
  return warning(
      text + ". Every step waits for the slowest pair: check its hosts and their network, or leave these hosts out");
}

void check_messages(const ExchangeSpec& spec, Device& device, Report& report) {
  const mpi::Communicator& world = report.world();
  const ProcessGrid grid(world, spec.stages);
  const GridShape shape{.stages = grid.num_stages(), .replicas = grid.num_replicas()};
  const MessageSizes sizes{.long_bytes = std::clamp(spec.long_bytes, kMinLongBytes, kMaxLongBytes)};
  const std::vector<Pairing> pairings = pairings_of(shape, spec.wraps);
  std::vector<Ping> pings;
  for (const Pairing& pairing : pairings)
    for (const std::int64_t bytes : {sizes.short_bytes, sizes.long_bytes})
      pings.push_back(ping_in(pairing, grid, bytes));
  const auto transport = make_transport(grid, device);
  const std::vector<std::vector<double>> seconds = ping(pings, {}, world, *transport, device);
  report.add_agreement("messages", "by " + transport->description(), Outcome::kFails, "Use hosts that are alike.");
  if (!report.is_root()) return;
  std::vector<PairTime> along_pipelines, among_replicas;
  for (std::size_t i = 0; i < pairings.size(); ++i) {
    for (std::int64_t rank = 0; rank < world.size(); ++rank) {
      const auto partner = partner_in(pairings[i], shape, rank);
      if (!partner || rank > *partner) continue;  // the partner has measured the same
      (pairings[i].kind == Pairing::Kind::kReplicas ? among_replicas : along_pipelines)
          .push_back({.rank = rank,
                      .partner = *partner,
                      .short_seconds = seconds[2 * i][rank],
                      .long_seconds = seconds[2 * i + 1][rank]});
    }
  }
  for (const auto& [check, pairs] : {std::pair("stages", &along_pipelines), std::pair("replicas", &among_replicas)})
    if (!pairs->empty()) report.add(check, judge_messages(*pairs, sizes, spec.reference, report.hosts()));
}

}  // namespace convoy::preflight
