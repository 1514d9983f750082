/// Times messages between ranks, and sums of arenas.
#include "plan/machine_rates.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <sstream>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/comm/process_grid.h"
#include "convoy/comm/transport.h"
#include "convoy/ops/elementwise.h"

#include "plan/cell_costs.h"
#include "plan/parse_numbers.h"

namespace convoy {

namespace {

constexpr const char* kTitle = "convoy rates 3";
constexpr std::int64_t kShortBytes = 4096;
constexpr std::int64_t kPieceBytes = std::int64_t{2} << 20;     // half of run.bucket_mib's default
constexpr std::int64_t kMaxArenaBytes = std::int64_t{1} << 28;  // no cache holds more: larger ones are as slow
constexpr NumberRange kRates{.min = 1e-12, .max = 1e18};        // limits of all seconds and bytes per second
constexpr double kMinSeconds = 1e-9;                            // replaces times that are too short for the clock
constexpr int kWarmUps = 2, kRepetitions = 9;
constexpr double kMaxSpread = 0.5;  // spread of repetitions: short messages always vary

Repetitions repeat(const std::function<void()>& work) {
  for (int i = 0; i < kWarmUps; ++i) work();
  std::vector<double> seconds;
  for (int i = 0; i < kRepetitions; ++i) {
    const double begin = now_seconds();
    work();
    seconds.push_back(std::max(now_seconds() - begin, kMinSeconds));
  }
  return judge_repetitions(seconds);
}

std::vector<std::int64_t> ranks_on(std::span<const std::int64_t> nodes, std::int64_t node) {
  std::vector<std::int64_t> ranks;
  for (std::int64_t r = 0; r < std::ssize(nodes); ++r)
    if (nodes[r] == node) ranks.push_back(r);
  return ranks;
}

std::int64_t index_of(const std::vector<std::int64_t>& values, std::int64_t value) {
  return std::ranges::find(values, value) - values.begin();
}

std::optional<std::int64_t> at(const std::vector<std::int64_t>& values, std::int64_t index) {
  return index < std::ssize(values) ? std::optional(values[index]) : std::nullopt;
}

// Returns for each rank of world, on all of them, the first rank of its node.
std::vector<std::int64_t> nodes_of_ranks(const mpi::Communicator& world) {
  const std::int64_t mine = -world.split_by_node().max(-world.rank());
  const std::vector<std::byte> all = world.broadcast(world.gather(std::as_bytes(std::span(&mine, 1)), 0), 0);
  std::vector<std::int64_t> nodes(static_cast<std::size_t>(world.size()));
  std::ranges::copy(all, std::as_writable_bytes(std::span(nodes)).begin());
  return nodes;
}

/// Messages of one size to and fro between this rank and its partner. Without a partner run() does nothing.
class Ping {
 public:
  Ping(const ProcessGrid& chain, std::optional<std::int64_t> partner, std::int64_t bytes, int tag, Transport& transport,
       Device& device)
      : transport_(transport), there_(device, bytes), back_(device, bytes) {
    if (!partner) return;
    begins_ = chain.model().rank() < *partner;
    const auto spec = [&](const Buffer& buffer) {
      return MessageSpec{.group = chain.model(),
                         .data = buffer.data(),
                         .size_bytes = bytes,
                         .peer = static_cast<int>(*partner),
                         .tag = tag};
    };
    send_ = transport.send(spec(there_));
    receive_ = transport.receive(spec(back_));
  }

  void run() {
    if (send_ == nullptr) return;
    receive_->start();
    if (begins_) send_->start();
    wait_for(*receive_);
    if (!begins_) send_->start();
    wait_for(*send_);
  }

 private:
  void wait_for(Message& message) {
    wait_until(transport_, [&] { return message.test(); });
  }

  Transport& transport_;
  Buffer there_, back_;
  bool begins_ = false;
  std::unique_ptr<Message> send_, receive_;
};

/// Pieces of arenas that this rank and its partner exchange one after the other: each sends one and receives one at the
/// same time, as in an exchange of gradients. Pieces of large arenas are in no cache when their turn comes again.
class Crossing {
 public:
  Crossing(const ProcessGrid& chain, std::optional<std::int64_t> partner, std::int64_t arena_bytes, int tag,
           Transport& transport, Device& device)
      : transport_(transport),
        piece_bytes_(std::min(arena_bytes, kPieceBytes)),
        there_(device, partner ? arena_bytes : 0),
        here_(device, partner ? arena_bytes : 0) {
    if (!partner) return;
    for (std::int64_t begin = 0; begin + piece_bytes_ <= arena_bytes; begin += piece_bytes_) {
      const auto spec = [&](const Buffer& buffer) {
        return MessageSpec{.group = chain.model(),
                           .data = static_cast<std::byte*>(buffer.data()) + begin,
                           .size_bytes = piece_bytes_,
                           .peer = static_cast<int>(*partner),
                           .tag = tag};
      };
      pieces_.push_back({transport.send(spec(there_)), transport.receive(spec(here_))});
    }
  }

  void run() {
    if (pieces_.empty()) return;
    const Piece& piece = pieces_[next_++ % pieces_.size()];
    piece.receive->start();
    piece.send->start();
    for (Message* message : {piece.receive.get(), piece.send.get()})
      wait_until(transport_, [&] { return message->test(); });
  }

  std::int64_t piece_bytes() const { return piece_bytes_; }

 private:
  struct Piece {
    std::unique_ptr<Message> send, receive;
  };

  Transport& transport_;
  std::int64_t piece_bytes_;
  Buffer there_, here_;
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;
};

/// A level of the network, on a node or between nodes, with pairs that are measured at the same time.
struct Level {
  bool exists = false;  ///< whether any rank has a partner
  Ping brief, large;
  Crossing crossing;

  Level(const ProcessGrid& chain, std::optional<std::int64_t> partner, const RatesSpec& spec, int tag,
        Transport& transport, Device& device)
      : exists(chain.world().max(partner ? 1 : 0) == 1),
        brief(chain, partner, kShortBytes, tag, transport, device),
        large(chain, partner, spec.message_bytes, tag + 1, transport, device),
        crossing(chain, partner, spec.arena_bytes, tag + 2, transport, device) {}
};

LinkRates measure_level(Level& level, std::int64_t long_bytes, const NodeLoad& node, const mpi::Communicator& world) {
  const auto seconds_of = [&](auto& messages) {
    const auto measure = [&] {
      Repetitions mine;
      take_turns(world, node, /*in_pairs=*/true, [&] { mine = repeat([&] { messages.run(); }); });
      return slowest(world, mine);  // the same on all ranks, which all measure again or none
    };
    return std::max(kMinSeconds, measure_until_steady(kMaxSpread, measure).repetitions.median_seconds);
  };
  const double brief = seconds_of(level.brief) / 2, large = seconds_of(level.large) / 2;  // there and back
  const double crossing = seconds_of(level.crossing);
  // If a large message seems no slower than a short one, only the latency was measured.
  const auto rate = [&](std::int64_t bytes, double seconds) {
    return static_cast<double>(bytes) / std::max(seconds - brief, 1e-3 * seconds);
  };
  return {.latency_seconds = brief,
          .bytes_per_second = rate(long_bytes - kShortBytes, large),
          .exchange_bytes_per_second = rate(level.crossing.piece_bytes(), crossing)};
}

void measure_messages(RatesSpec spec, const NodeLoad& node, const mpi::Communicator& world, Device& device,
                      MachineRates& rates) {
  const ProcessGrid chain(world, world.size());
  const auto transport = make_transport(chain, device);
  spec.message_bytes = std::max(spec.message_bytes, 16 * kShortBytes);
  spec.arena_bytes = std::clamp(spec.arena_bytes, kShortBytes, kMaxArenaBytes);
  const std::vector<std::int64_t> nodes = nodes_of_ranks(world);
  Level on_node(chain, partner_on_node(nodes, world.rank()), spec, 0, *transport, device),
      between(chain, partner_on_another_node(nodes, world.rank()), spec, 3, *transport, device);
  transport->connect();
  if (on_node.exists) rates.on_node = rates.between_nodes = measure_level(on_node, spec.message_bytes, node, world);
  if (between.exists) rates.between_nodes = measure_level(between, spec.message_bytes, node, world);
  if (!on_node.exists) rates.on_node = rates.between_nodes;
}

Repetitions repeat_sums(std::int64_t bytes, ops::Backend& backend) {
  Device& device = backend.device();
  const std::int64_t count = bytes / kFloatBytes;
  const Buffer a(device, bytes), b(device, bytes);
  return repeat([&] {
    backend.elementwise().add(DataType::kFloat32, a.data(), b.data(), b.data(), count);
    device.synchronize();
  });
}

}  // namespace

std::optional<std::int64_t> partner_on_node(std::span<const std::int64_t> nodes, std::int64_t rank) {
  const std::vector<std::int64_t> mine = ranks_on(nodes, nodes[rank]);
  return at(mine, index_of(mine, rank) ^ 1);
}

std::optional<std::int64_t> partner_on_another_node(std::span<const std::int64_t> nodes, std::int64_t rank) {
  std::vector<std::int64_t> firsts(nodes.begin(), nodes.end());
  std::ranges::sort(firsts);
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  const auto other = at(firsts, index_of(firsts, nodes[rank]) ^ 1);
  if (!other) return std::nullopt;
  return at(ranks_on(nodes, *other), index_of(ranks_on(nodes, nodes[rank]), rank));
}

double slowest(const mpi::Communicator& world, double seconds) {
  return static_cast<double>(world.max(std::llround(seconds * 1e9))) * 1e-9;
}

Repetitions slowest(const mpi::Communicator& world, const Repetitions& mine) {
  return {.median_seconds = slowest(world, mine.median_seconds), .spread = slowest(world, mine.spread)};
}

std::string MachineRates::serialise() const {
  return fmt::format(
      "{}\n{}\n# messages on a node, between nodes: seconds, bytes per second, in exchanges; memory: bytes per second; "
      "1: "
      "ranks copy messages on a node, 2: others do\n{} {} {} {} {} {} {} {}\n",
      kTitle, key, on_node.latency_seconds, on_node.bytes_per_second, on_node.exchange_bytes_per_second,
      between_nodes.latency_seconds, between_nodes.bytes_per_second, between_nodes.exchange_bytes_per_second,
      memory_bytes_per_second, copied_by_ranks ? 1 : 2);
}

std::optional<MachineRates> MachineRates::parse(const std::string& text, const std::string& key) {
  std::istringstream stream(text);
  std::string title, found_key, units, line;
  std::getline(stream, title), std::getline(stream, found_key), std::getline(stream, units);
  if (title != kTitle || found_key != key) return std::nullopt;
  if (!text.ends_with('\n')) fail("its last line is cut");
  std::getline(stream, line);
  const std::vector<double> numbers = parse_numbers(line, 8, kRates);
  const auto link = [&](std::size_t at) {
    return LinkRates{.latency_seconds = numbers[at],
                     .bytes_per_second = numbers[at + 1],
                     .exchange_bytes_per_second = numbers[at + 2]};
  };
  return MachineRates{.key = key,
                      .on_node = link(0),
                      .between_nodes = link(3),
                      .copied_by_ranks = numbers[7] == 1,
                      .memory_bytes_per_second = numbers[6]};
}

std::string rates_key(const RatesSpec& spec, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node) {
  return fmt::format("messages of {} bytes, arenas of {}; {}; {}, {} on a node", spec.message_bytes, spec.arena_bytes,
                     backend.device().description(), describe_ranks(ranks, node), node.ranks);
}

MachineRates measure_rates(const RatesSpec& spec, const NodeLoad& node, const mpi::Communicator& world,
                           ops::Backend& backend) {
  MachineRates rates{.key = rates_key(spec, backend, world.size(), node),
                     .copied_by_ranks = backend.device().is_host()};
  if (world.size() > 1) measure_messages(spec, node, world, backend.device(), rates);
  const std::int64_t bytes = std::clamp(spec.arena_bytes, kShortBytes, kMaxArenaBytes);
  constexpr double kTrips = 3;  // a, b, their sum
  const auto measure = [&] {
    Repetitions mine;
    take_turns(world, node, /*in_pairs=*/false, [&] { mine = repeat_sums(bytes, backend); });
    return slowest(world, mine);
  };
  const double seconds = std::max(kMinSeconds, measure_until_steady(kMaxSpread, measure).repetitions.median_seconds);
  rates.memory_bytes_per_second = kTrips * static_cast<double>(bytes) / seconds;
  return rates;
}

}  // namespace convoy
