/// Starts each round when the one before has arrived.
#include "comm/exchange_message.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace convoy {

namespace {

/// True for as long as this lives, also where an exception ends that.
class ScopedFlag {
 public:
  explicit ScopedFlag(bool& flag) : flag_(flag) { flag_ = true; }
  ~ScopedFlag() { flag_ = false; }
  ScopedFlag(const ScopedFlag&) = delete;
  ScopedFlag& operator=(const ScopedFlag&) = delete;

 private:
  bool& flag_;
};

}  // namespace

ExchangeMessage::ExchangeMessage(Transport& transport, InFlight<ExchangeMessage>& in_flight,
                                 std::vector<ExchangeRound> rounds)
    : in_flight_(in_flight) {
  for (ExchangeRound& round : rounds) {
    Round& added = rounds_.emplace_back();
    for (const MessageSpec& spec : round.receives) added.messages.push_back(transport.receive(spec));
    for (const MessageSpec& spec : round.sends) added.messages.push_back(transport.send(spec));
    added.then = std::move(round.then);
  }
  round_ = rounds_.size();
  in_flight.make_room();
}

void ExchangeMessage::start() {
  assert(!active_ && "an exchange that is still in flight was started again");
  active_ = true;
  round_ = 0;
  if (arrived()) return;
  in_flight_.add(*this);
  start_round();
}

void ExchangeMessage::start_round() {
  for (const auto& message : rounds_[round_].messages) message->start();
}

// A message's test may move all of the transport on, and so come back here.
void ExchangeMessage::advance() {
  if (is_advancing_) return;
  const ScopedFlag flag(is_advancing_);
  while (!arrived() && std::ranges::all_of(rounds_[round_].messages, [](const auto& m) { return m->test(); })) {
    if (rounds_[round_].then) rounds_[round_].then();
    if (++round_ < rounds_.size()) start_round();
  }
}

bool ExchangeMessage::test() {
  if (!active_) return true;
  advance();
  if (!arrived()) return false;
  in_flight_.remove(*this);
  active_ = false;
  return true;
}

bool ExchangesInFlight::progress() {
  if (is_progressing_) return true;
  {
    const ScopedFlag flag(is_progressing_);
    for (ExchangeMessage* exchange : in_flight_) exchange->advance();
  }
  in_flight_.remove_if([](const ExchangeMessage& exchange) { return exchange.arrived(); });
  return !in_flight_.empty();
}

bool ExchangesInFlight::hold_back() const {
  return std::ranges::any_of(in_flight_, [](const ExchangeMessage* exchange) { return exchange->holds_back(); });
}

}  // namespace convoy
