/// Messages directly from and to the host's memory: the device's work is done when the call that issues it returns, so
/// start() can give the memory to MPI at once.
#include <cassert>
#include <functional>
#include <utility>

#include "convoy/comm/transport.h"

#include "comm/exchange_message.h"
#include "comm/in_flight.h"
#include "comm/mpi/check.h"

namespace convoy {

namespace {

class HostMessage final : public Message {
 public:
  using Post = std::function<mpi::Request()>;

  HostMessage(InFlight<HostMessage>& in_flight, Post post) : in_flight_(in_flight), post_(std::move(post)) {
    in_flight.make_room();
  }

  void start() override {
    assert(!active_ && "a message that is still in flight was started again");
    active_ = travels_ = true;
    in_flight_.add(*this);
    request_ = post_();
  }

  bool test() override {
    if (active_ && arrived()) active_ = false;
    return !active_;
  }

  bool active() const override { return active_; }

  // Moves all of the rank's messages on.
  bool arrived() {
    if (!travels_) return true;
    if (!request_.test()) return false;
    travels_ = false;
    in_flight_.remove(*this);
    return true;
  }

 private:
  InFlight<HostMessage>& in_flight_;
  Post post_;
  mpi::Request request_;
  bool active_ = false;
  bool travels_ = false;  ///< what MPI has not completed yet; active until test() has said so
};

class HostTransport final : public Transport {
 public:
  std::string description() const override { return "MPI"; }

  std::unique_ptr<Message> send(const MessageSpec& spec) override {
    mpi::check_message_size(spec.size_bytes);
    return create([spec] { return spec.group.start_send(spec.data, spec.size_bytes, spec.peer, spec.tag); });
  }

  std::unique_ptr<Message> receive(const MessageSpec& spec) override {
    mpi::check_message_size(spec.size_bytes);
    return create([spec] { return spec.group.start_receive(spec.data, spec.size_bytes, spec.peer, spec.tag); });
  }

  std::unique_ptr<Message> exchange(std::vector<ExchangeRound> rounds) override {
    return exchanges_.create(*this, std::move(rounds));
  }

  // All ranks of the group.
  std::unique_ptr<Message> reduce_scatter(const ReduceScatterSpec& spec) override {
    return create([spec, count = mpi::reduction_count(spec.part_count, spec.group.size())] {
      return spec.group.start_reduce_scatter(spec.data, spec.part, count);
    });
  }

  bool progress() override {
    if (!in_flight_.empty()) in_flight_.first().arrived();  // one test moves all of this rank's messages
    const bool any = exchanges_.progress();
    return any || !in_flight_.empty();
  }

  bool holds_back() const override { return exchanges_.hold_back(); }

 private:
  std::unique_ptr<Message> create(HostMessage::Post post) {
    return std::make_unique<HostMessage>(in_flight_, std::move(post));
  }

  InFlight<HostMessage> in_flight_;
  ExchangesInFlight exchanges_;
};

}  // namespace

std::unique_ptr<Transport> make_host_transport() {
  return std::make_unique<HostTransport>();
}

}  // namespace convoy
