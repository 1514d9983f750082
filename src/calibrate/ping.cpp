/// See ping.h.
#include "calibrate/ping.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "convoy/comm/gather.h"

#include "calibrate/measure.h"

namespace convoy {

namespace {

constexpr int kTag = 0;
constexpr double kMaxPingSpread = 0.5;  // spread of repetitions: short messages always vary

/// This rank's messages of a ping; none without a partner.
class PairMessages {
 public:
  PairMessages(const Ping& ping, Transport& transport, Device& device)
      : transport_(transport),
        device_(device),
        there_(device, memory_bytes(ping)),
        back_(device, memory_bytes(ping)),
        begins_(ping.group.rank() < ping.partner) {
    for (std::int64_t at = 0; at + ping.message_bytes <= there_.size_bytes(); at += ping.message_bytes)
      pieces_.push_back(make_piece(ping, at));
  }

  /// Returns the times of one message in one direction. Both ranks of the pair call it.
  Repetitions measure() {
    if (pieces_.empty()) return {};
    const bool is_to_and_fro = pieces_.front().both == nullptr;
    Repetitions times = repeat([&] { send(pieces_[next_++ % pieces_.size()]); });
    times.median_seconds /= is_to_and_fro ? 2 : 1;
    return times;
  }

 private:
  struct Piece {
    std::unique_ptr<Message> both;           ///< at once
    std::unique_ptr<Message> receive, send;  ///< to and fro
  };

  static std::int64_t memory_bytes(const Ping& ping) {
    return ping.partner ? std::max(ping.message_bytes, ping.arena_bytes) : 0;
  }

  Piece make_piece(const Ping& ping, std::int64_t at) const {
    const auto message = [&](const Buffer& memory) {
      return MessageSpec{.group = ping.group,
                         .data = memory.data() + at,
                         .size_bytes = ping.message_bytes,
                         .peer = static_cast<int>(*ping.partner),
                         .tag = kTag};
    };
    Piece piece;
    if (ping.at_once) {
      piece.both = transport_.exchange({{.receives = {message(back_)}, .sends = {message(there_)}}});
    } else {
      piece.receive = transport_.receive(message(back_));
      piece.send = transport_.send(message(there_));
    }
    return piece;
  }

  void send(const Piece& piece) {
    if (piece.both != nullptr) {
      piece.both->start();
      wait_for(*piece.both);
    } else {
      piece.receive->start();
      if (begins_) piece.send->start();
      wait_for(*piece.receive);
      if (!begins_) piece.send->start();
      wait_for(*piece.send);
    }
    device_.synchronize();  // on a GPU a message is complete before its bytes have arrived: work is ordered after them
  }

  void wait_for(Message& message) {
    wait_until(transport_, [&] { return message.test(); });
  }

  Transport& transport_;
  Device& device_;
  Buffer there_, back_;
  bool begins_;
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<std::vector<double>> ping(const std::vector<Ping>& pings, const NodeLoad& node,
                                      const mpi::Communicator& world, Transport& transport, Device& device) {
  std::vector<std::unique_ptr<PairMessages>> messages;
  for (const Ping& one : pings) messages.push_back(std::make_unique<PairMessages>(one, transport, device));
  transport.connect();
  std::vector<std::vector<double>> seconds;
  for (const auto& of_ping : messages) {
    std::vector<double> attempts;
    const Steadiest best = measure_together(world, node, /*in_pairs=*/true, kMaxPingSpread, [&] {
      const Repetitions mine = of_ping->measure();
      attempts.push_back(mine.median_seconds);
      return mine;
    });
    seconds.push_back(mpi::share_value(world, attempts[best.attempt]));
  }
  return seconds;
}

double rate_after_latency(std::int64_t bytes, double seconds, double latency_seconds) {
  return static_cast<double>(bytes) / std::max(seconds - latency_seconds, 1e-3 * seconds);
}

}  // namespace convoy
