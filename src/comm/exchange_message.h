/// An exchange as messages of its transport, round after round: for transports whose messages need progress.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "convoy/comm/transport.h"

#include "comm/in_flight.h"

namespace convoy {

class ExchangeMessage final : public Message {
 public:
  /// Creates the messages of all rounds. start() and test() allocate nothing.
  ExchangeMessage(Transport& transport, InFlight<ExchangeMessage>& in_flight, std::vector<ExchangeRound> rounds);

  void start() override;
  bool test() override;
  bool active() const override { return active_; }

  /// Continues the exchange as far as possible without waiting.
  void advance();
  bool arrived() const { return round_ == rounds_.size(); }
  /// Whether messages of later rounds have yet to leave.
  bool holds_back() const { return round_ + 1 < rounds_.size(); }

 private:
  struct Round {
    Messages messages;
    std::function<void()> then;
  };
  void start_round();

  InFlight<ExchangeMessage>& in_flight_;
  std::vector<Round> rounds_;
  std::size_t round_ = 0;  ///< the round whose messages travel
  bool active_ = false;
  bool is_advancing_ = false;
};

/// The exchanges of a transport that are in flight.
class ExchangesInFlight {
 public:
  std::unique_ptr<Message> create(Transport& transport, std::vector<ExchangeRound> rounds) {
    return std::make_unique<ExchangeMessage>(transport, in_flight_, std::move(rounds));
  }
  /// Moves all exchanges on. Returns whether any is in flight after that. If the test of a message calls it from within
  /// itself, it does nothing and returns true.
  bool progress();
  bool hold_back() const;

 private:
  InFlight<ExchangeMessage> in_flight_;
  bool is_progressing_ = false;
};

}  // namespace convoy
