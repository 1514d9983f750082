/// Messages straight from and to the host's memory: what the device is issued is done when the call returns, so that
/// start() can hand the memory to MPI at once.
#include <cassert>
#include <functional>
#include <utility>

#include "convoy/comm/transport.h"

#include "comm/mpi_limits.h"
#include "comm/under_way.h"

namespace convoy {

namespace {

class HostMessage final : public Message {
 public:
  using Post = std::function<mpi::Request()>;

  HostMessage(UnderWay<HostMessage>& under_way, Post post) : under_way_(under_way), post_(std::move(post)) {
    under_way.make_room();
  }

  void start() override {
    assert(!active_ && "a message under way was started again");
    active_ = travels_ = true;
    under_way_.add(*this);
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
    under_way_.remove(*this);
    return true;
  }

 private:
  UnderWay<HostMessage>& under_way_;
  Post post_;
  mpi::Request request_;
  bool active_ = false;
  bool travels_ = false;  ///< what MPI has not completed yet; active until test() has said so
};

class HostTransport final : public Transport {
 public:
  std::string description() const override { return "MPI"; }

  std::unique_ptr<Message> send(const MessageSpec& spec) override {
    check_message_size(spec.size_bytes);
    return plan([group = spec.group, data = spec.data, size_bytes = spec.size_bytes, peer = spec.peer, tag = spec.tag] {
      return group.start_send(data, size_bytes, peer, tag);
    });
  }

  std::unique_ptr<Message> receive(const MessageSpec& spec) override {
    check_message_size(spec.size_bytes);
    return plan([group = spec.group, data = spec.data, size_bytes = spec.size_bytes, peer = spec.peer, tag = spec.tag] {
      return group.start_receive(data, size_bytes, peer, tag);
    });
  }

  // All ranks of the group.
  std::unique_ptr<Message> reduce_scatter(const ReduceScatterSpec& spec) override {
    return plan([group = spec.group, data = spec.data, part = spec.part, counts = reduction_counts(spec.counts)] {
      return group.start_reduce_scatter(data, part, counts);
    });
  }

  void connect() override {}

  void start_together(std::span<const std::unique_ptr<Message>> messages) override {
    for (const auto& message : messages) message->start();
  }

  bool progress() override {
    if (under_way_.empty()) return false;
    under_way_.first().arrived();  // one test moves all of this rank's messages
    return !under_way_.empty();
  }

  bool holds_back() const override { return false; }  // MPI has it from the start

 private:
  std::unique_ptr<Message> plan(HostMessage::Post post) {
    return std::make_unique<HostMessage>(under_way_, std::move(post));
  }

  UnderWay<HostMessage> under_way_;
};

}  // namespace

std::unique_ptr<Transport> make_host_transport() {
  return std::make_unique<HostTransport>();
}

}  // namespace convoy
