/// See message_checks.h.
#include "preflight/message_checks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "convoy/base/clock.h"
#include "convoy/base/median.h"
#include "convoy/base/wording.h"
#include "convoy/comm/transport.h"

namespace convoy::preflight {

namespace {

constexpr int kShortTag = 0, kLongTag = 1;
constexpr int kWarmUps = 2, kRepetitions = 9;
// Links inside a node and links between nodes differ by less than these factors; broken links are slower by more.
constexpr double kFarFromMedian = 20, kFarFromPlan = 4;
constexpr std::int64_t kMinLongBytes = std::int64_t{1} << 16, kMaxLongBytes = std::int64_t{1} << 24;

struct PairRate {
  PairTime time;
  double bytes_per_second = 0;
};

// The latency is the time of the short message. If a long message seems no slower, only the latency was measured.
PairRate rate_of(const PairTime& time, const MessageSizes& sizes) {
  const double more = std::max(time.long_seconds - time.short_seconds, 1e-3 * time.long_seconds);
  return {time, static_cast<double>(sizes.long_bytes - sizes.short_bytes) / more};
}

std::string describe(double latency_seconds, double bytes_per_second) {
  return fmt::format("{} us + {} GB/s", plain_number(1e6 * latency_seconds, 3),
                     plain_number(1e-9 * bytes_per_second, 3));
}

/// A rank's message to its partner, and the message that comes back.
class PairMessages {
 public:
  PairMessages(const mpi::Communicator& group, int peer, std::int64_t bytes, int tag, bool at_once,
               Transport& transport, Device& device)
      : transport_(transport), there_(device, bytes), back_(device, bytes), begins_(group.rank() < peer) {
    const auto spec = [&](const Buffer& buffer) {
      return MessageSpec{.group = group, .data = buffer.data(), .size_bytes = bytes, .peer = peer, .tag = tag};
    };
    if (at_once) {
      both_ = transport.exchange({{.receives = {spec(back_)}, .sends = {spec(there_)}}});
    } else {
      receive_ = transport.receive(spec(back_));
      send_ = transport.send(spec(there_));
    }
  }

  // Returns the median time of a message, one way, in seconds. Both ranks of the pair call it.
  double measure() {
    std::vector<double> seconds;
    for (int i = 0; i < kWarmUps + kRepetitions; ++i) {
      const double begin = now_seconds();
      exchange();
      if (i >= kWarmUps) seconds.push_back(now_seconds() - begin);
    }
    return median(std::move(seconds)) / (both_ ? 1 : 2);
  }

 private:
  void wait_for(Message& message) {
    wait_until(transport_, [&] { return message.test(); });
  }

  // Between replicas messages go in both directions at once, as slices do; between stages they go to and fro.
  void exchange() {
    if (both_) {
      both_->start();
      return wait_for(*both_);
    }
    receive_->start();
    if (begins_) send_->start();
    wait_for(*receive_);
    if (!begins_) send_->start();
    wait_for(*send_);
  }

  Transport& transport_;
  Buffer there_, back_;
  bool begins_;
  std::unique_ptr<Message> both_;            ///< between replicas
  std::unique_ptr<Message> receive_, send_;  ///< between stages
};

/// The messages of this rank in one round; null if it has no partner.
struct RoundMessages {
  std::unique_ptr<PairMessages> brief, large;
};

RoundMessages make_messages(const Round& round, const ProcessGrid& grid, std::int64_t partner,
                            const MessageSizes& sizes, Transport& transport, Device& device) {
  const bool among_replicas = round.kind == Round::Kind::kReplicas;
  const mpi::Communicator& group = among_replicas ? grid.data() : grid.model();
  const auto peer = static_cast<int>(among_replicas ? partner / grid.num_stages() : partner % grid.num_stages());
  const auto make = [&](std::int64_t bytes, int tag) {
    return std::make_unique<PairMessages>(group, peer, bytes, tag, among_replicas, transport, device);
  };
  return {make(sizes.short_bytes, kShortTag), make(sizes.long_bytes, kLongTag)};
}

std::vector<PairTime> gather_times(const mpi::Communicator& world, const std::vector<PairTime>& mine) {
  const std::vector<std::byte> bytes = world.gather(std::as_bytes(std::span(mine)), 0);
  std::vector<PairTime> all(bytes.size() / sizeof(PairTime));
  if (!bytes.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

}  // namespace

std::vector<Round> rounds_of_pairs(const GridShape& grid, bool wraps) {
  std::vector<Round> rounds;
  for (std::int64_t n = 0; n < std::min<std::int64_t>(2, grid.stages - 1); ++n)
    rounds.push_back({Round::Kind::kPipeline, n});
  if (wraps && grid.stages > 2) rounds.push_back({Round::Kind::kWrap, 0});
  for (std::int64_t k = 0; (std::int64_t{1} << k) < grid.replicas; ++k) rounds.push_back({Round::Kind::kReplicas, k});
  return rounds;
}

std::optional<std::int64_t> partner_in(const Round& round, const GridShape& grid, std::int64_t rank) {
  const std::int64_t stage = rank % grid.stages, replica = rank / grid.stages;
  if (round.kind == Round::Kind::kReplicas) {
    const std::int64_t other = replica ^ (std::int64_t{1} << round.number);
    return other < grid.replicas ? std::optional(other * grid.stages + stage) : std::nullopt;
  }
  std::int64_t other = (stage + round.number) % 2 == 0 ? stage + 1 : stage - 1;
  if (round.kind == Round::Kind::kWrap) other = stage == 0 ? grid.stages - 1 : stage == grid.stages - 1 ? 0 : -1;
  return other >= 0 && other < grid.stages ? std::optional(replica * grid.stages + other) : std::nullopt;
}

Finding judge_messages(const std::vector<PairTime>& pairs, const MessageSizes& sizes, const MessageReference& reference,
                       const std::vector<std::string>& hosts) {
  std::vector<PairRate> rates;
  std::vector<double> seconds, short_seconds, bytes_per_second;
  for (const PairTime& pair : pairs) {
    rates.push_back(rate_of(pair, sizes));
    seconds.push_back(pair.long_seconds);
    short_seconds.push_back(pair.short_seconds);
    bytes_per_second.push_back(rates.back().bytes_per_second);
  }
  const PairRate& slowest = *std::max_element(rates.begin(), rates.end(), [](const PairRate& a, const PairRate& b) {
    return a.time.long_seconds < b.time.long_seconds;
  });
  const auto host_of = [&](std::int64_t rank) { return hosts[static_cast<std::size_t>(rank)]; };
  std::string text =
      fmt::format("{}: {}; the slowest, rank {} on {} with rank {} on {}: {}", counted(std::ssize(pairs), "pair"),
                  describe(median(short_seconds), median(bytes_per_second)), slowest.time.rank,
                  host_of(slowest.time.rank), slowest.time.partner, host_of(slowest.time.partner),
                  describe(slowest.time.short_seconds, slowest.bytes_per_second));
  bool is_slow = slowest.time.long_seconds > kFarFromMedian * median(seconds);
  if (reference.assumed) {
    const bool is_on_node = host_of(slowest.time.rank) == host_of(slowest.time.partner);
    const LinkRates& assumed = is_on_node ? reference.assumed->on_node : reference.assumed->between_nodes;
    const double expected = assumed.seconds(static_cast<double>(sizes.long_bytes));
    text += fmt::format("; the plan assumes {}", describe(assumed.latency_seconds, assumed.bytes_per_second));
    is_slow = is_slow || slowest.time.long_seconds > kFarFromPlan * expected;
  }
  if (reference.cores_are_shared) return ok(text + "; ranks share cores and wait for these, too");
  if (!is_slow) return ok(text);
  return warning(text +
                 ". Every step waits for the slowest pair: see to its hosts and their network, or leave them out");
}

void check_messages(const ExchangeSpec& spec, Device& device, Report& report) {
  const mpi::Communicator& world = report.world();
  const ProcessGrid grid(world, spec.stages);
  const GridShape shape{.stages = grid.num_stages(), .replicas = grid.num_replicas()};
  const MessageSizes sizes{.long_bytes = std::clamp(spec.long_bytes, kMinLongBytes, kMaxLongBytes)};
  const auto transport = make_transport(grid, device);
  const std::vector<Round> rounds = rounds_of_pairs(shape, spec.wraps);
  std::vector<RoundMessages> messages(rounds.size());
  for (std::size_t i = 0; i < rounds.size(); ++i)
    if (const auto partner = partner_in(rounds[i], shape, world.rank()))
      messages[i] = make_messages(rounds[i], grid, *partner, sizes, *transport, device);
  transport->connect();
  std::vector<PairTime> along_pipelines, among_replicas;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    world.barrier();
    if (messages[i].brief == nullptr) continue;
    const std::int64_t partner = *partner_in(rounds[i], shape, world.rank());
    const PairTime time{.rank = world.rank(),
                        .partner = partner,
                        .short_seconds = messages[i].brief->measure(),
                        .long_seconds = messages[i].large->measure()};
    if (world.rank() > partner) continue;  // the partner has measured the same
    (rounds[i].kind == Round::Kind::kReplicas ? among_replicas : along_pipelines).push_back(time);
  }
  report.add_agreement("messages", "by " + transport->description(), Outcome::kFails, "Use hosts that are alike.");
  for (const auto& [check, mine] : {std::pair("stages", &along_pipelines), std::pair("replicas", &among_replicas)}) {
    const std::vector<PairTime> all = gather_times(world, *mine);
    if (!all.empty()) report.add(check, judge_messages(all, sizes, spec.reference, report.hosts()));
  }
}

}  // namespace convoy::preflight
