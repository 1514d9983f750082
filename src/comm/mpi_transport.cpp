/// Messages by MPI. If the device's memory is the host's, MPI gets it at once: the device's work is done when the call
/// that issues it returns. The memory of another device travels by way of pinned host memory. Each message then has a
/// copy lane and pinned buffers of its own, so none waits for another but where MPI's order demands it:
///
///   start()  lane.mark()
///   waits    until the lane is free: the copy of the last time, to the device, may still run
///   leaves   device -> pinned            sends and reductions
///   ready    until messages of the same tag that were started before have been given to MPI
///   travels  pinned -> MPI -> pinned
///   arrived  pinned -> device            receives and reductions; not waited for:
///   test()   lane.join(): device work issued from here on waits for that copy
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "convoy/base/data_type.h"
#include "convoy/comm/transport.h"

#include "comm/mpi/check.h"
#include "comm/nccl/nccl_transport.h"

namespace convoy {

namespace {

/// The messages that still need progress, in the order in which they were started.
template <typename MessageType>
class InFlight {
 public:
  /// Makes room for one message more, so that add() never allocates.
  void make_room() { messages_.reserve(++num_created_); }

  void add(MessageType& message) {
    assert(messages_.size() < messages_.capacity());
    messages_.push_back(&message);
  }
  void remove(const MessageType& message) { std::erase(messages_, &message); }
  template <typename Predicate>
  void remove_if(Predicate&& predicate) {
    std::erase_if(messages_, [&](const MessageType* message) { return predicate(*message); });
  }

  bool empty() const { return messages_.empty(); }
  auto begin() const { return messages_.begin(); }
  auto end() const { return messages_.end(); }

 private:
  std::vector<MessageType*> messages_;
  std::size_t num_created_ = 0;
};

/// MPI matches the messages of one tag, and the reductions of one group, in the order in which it is given them: the
/// order in which they were started, whichever copy ends first.
struct Queue {
  std::int64_t num_started = 0;
  std::int64_t num_posted = 0;
};

enum class Kind { kSend, kReceive, kReduceScatter };
using QueueKey = std::tuple<MPI_Comm, Kind, int, int>;  // group, kind, peer, tag

class MpiMessage final : public Message {
 public:
  struct Spec {
    const void* source = nullptr;  ///< device memory
    std::int64_t source_bytes = 0;
    void* target = nullptr;  ///< device memory
    std::int64_t target_bytes = 0;
    std::function<mpi::Request(const void* outgoing, void* incoming)> post;
  };

  /// `device` is null if its memory is the host's.
  MpiMessage(Transport& transport, InFlight<MpiMessage>& in_flight, Device* device, Queue& queue, Spec spec)
      : transport_(transport), in_flight_(in_flight), queue_(queue), spec_(std::move(spec)) {
    if (device != nullptr) {
      outgoing_ = HostBuffer(*device, spec_.source_bytes);
      incoming_ = HostBuffer(*device, spec_.target_bytes);
      lane_ = device->make_copy_lane();
    }
    in_flight.make_room();
  }

  void start() override {
    assert(phase_ == Phase::kIdle && "a message that is still in flight was started again");
    if (lane_) lane_->mark();
    position_ = queue_.num_started++;
    phase_ = Phase::kWaits;
    in_flight_.add(*this);
    advance();
    if (arrived()) in_flight_.remove(*this);
  }

  bool test() override {
    if (phase_ == Phase::kIdle) return true;
    if (lane_ && !arrived()) transport_.progress();  // all: it may have to wait for its turn
    advance();
    if (!arrived()) return false;
    in_flight_.remove(*this);
    if (lane_ && spec_.target_bytes > 0) lane_->join();
    phase_ = Phase::kIdle;
    return true;
  }

  bool active() const override { return phase_ != Phase::kIdle; }
  bool arrived() const { return phase_ == Phase::kArrived; }
  bool is_posted() const { return phase_ == Phase::kTravels || arrived(); }

  /// Continues as far as possible without waiting.
  void advance() {
    if (phase_ == Phase::kWaits && is_lane_free()) {
      if (lane_ && spec_.source_bytes > 0) lane_->start_to_host(outgoing_.data(), spec_.source, spec_.source_bytes);
      phase_ = Phase::kLeaves;
    }
    if (phase_ == Phase::kLeaves && is_lane_free()) phase_ = Phase::kReady;
    if (phase_ == Phase::kReady && position_ == queue_.num_posted) {
      request_ = lane_ ? spec_.post(outgoing_.data(), incoming_.data()) : spec_.post(spec_.source, spec_.target);
      ++queue_.num_posted;
      phase_ = Phase::kTravels;
    }
    if (phase_ == Phase::kTravels && request_.test()) {
      if (lane_ && spec_.target_bytes > 0) lane_->start_to_device(spec_.target, incoming_.data(), spec_.target_bytes);
      phase_ = Phase::kArrived;
    }
  }

 private:
  enum class Phase { kIdle, kWaits, kLeaves, kReady, kTravels, kArrived };

  bool is_lane_free() const { return !lane_ || lane_->done(); }

  Transport& transport_;
  InFlight<MpiMessage>& in_flight_;
  Queue& queue_;
  Spec spec_;
  HostBuffer outgoing_, incoming_;
  std::unique_ptr<CopyLane> lane_;  ///< null if the device's memory is the host's
  mpi::Request request_;
  std::int64_t position_ = 0;  ///< in the queue
  Phase phase_ = Phase::kIdle;
};

/// True for as long as this lives, also if an exception ends that.
class ScopedFlag {
 public:
  explicit ScopedFlag(bool& flag) : flag_(flag) { flag_ = true; }
  ~ScopedFlag() { flag_ = false; }
  ScopedFlag(const ScopedFlag&) = delete;
  ScopedFlag& operator=(const ScopedFlag&) = delete;

 private:
  bool& flag_;
};

/// An exchange as messages, round after round: each round starts when the one before has arrived.
class ExchangeMessage final : public Message {
 public:
  /// Creates the messages of all rounds. start() and test() allocate nothing.
  ExchangeMessage(Transport& transport, InFlight<ExchangeMessage>& in_flight, std::vector<ExchangePhase> rounds)
      : in_flight_(in_flight), round_(rounds.size()) {
    for (ExchangePhase& round : rounds) {
      Round& added = rounds_.emplace_back();
      for (const MessageSpec& spec : round.receives) added.messages.push_back(transport.receive(spec));
      for (const MessageSpec& spec : round.sends) added.messages.push_back(transport.send(spec));
      added.then = std::move(round.then);
    }
    in_flight.make_room();
  }

  void start() override {
    assert(!active_ && "an exchange that is still in flight was started again");
    active_ = true;
    round_ = 0;
    if (arrived()) return;
    in_flight_.add(*this);
    start_round();
  }

  bool test() override {
    if (!active_) return true;
    advance();
    if (!arrived()) return false;
    in_flight_.remove(*this);
    active_ = false;
    return true;
  }

  bool active() const override { return active_; }

  /// Continues the exchange as far as possible without waiting. A message's test may make progress on all of the
  /// transport, and so come back here.
  void advance() {
    if (is_advancing_) return;
    const ScopedFlag flag(is_advancing_);
    while (!arrived() && std::ranges::all_of(rounds_[round_].messages, [](const auto& m) { return m->test(); })) {
      if (rounds_[round_].then) rounds_[round_].then();
      if (++round_ < rounds_.size()) start_round();
    }
  }
  bool arrived() const { return round_ == rounds_.size(); }
  /// Whether messages of later rounds have yet to leave.
  bool holds_back() const { return round_ + 1 < rounds_.size(); }

 private:
  struct Round {
    Messages messages;
    std::function<void()> then;
  };

  void start_round() {
    for (const auto& message : rounds_[round_].messages) message->start();
  }

  InFlight<ExchangeMessage>& in_flight_;
  std::vector<Round> rounds_;
  std::size_t round_;  ///< the round whose messages travel
  bool active_ = false;
  bool is_advancing_ = false;
};

class MpiTransport final : public Transport {
 public:
  /// `device` is null if its memory is the host's.
  explicit MpiTransport(Device* device) : device_(device) {}

  std::string description() const override { return device_ == nullptr ? "MPI" : "MPI through pinned host memory"; }
  std::unique_ptr<Message> send(const MessageSpec& spec) override {
    mpi::check_message_size(spec.size_bytes);
    return create({spec.group.handle(), Kind::kSend, spec.peer, spec.tag},
                  {.source = spec.data, .source_bytes = spec.size_bytes, .post = [spec](const void* outgoing, void*) {
                     return spec.group.start_send(outgoing, spec.size_bytes, spec.peer, spec.tag);
                   }});
  }

  std::unique_ptr<Message> receive(const MessageSpec& spec) override {
    mpi::check_message_size(spec.size_bytes);
    return create({spec.group.handle(), Kind::kReceive, spec.peer, spec.tag},
                  {.target = spec.data, .target_bytes = spec.size_bytes, .post = [spec](const void*, void* incoming) {
                     return spec.group.start_receive(incoming, spec.size_bytes, spec.peer, spec.tag);
                   }});
  }

  std::unique_ptr<Message> exchange(std::vector<ExchangePhase> rounds) override {
    return std::make_unique<ExchangeMessage>(*this, exchanges_, std::move(rounds));
  }

  // All ranks of the group.
  std::unique_ptr<Message> reduce_scatter(const ReduceScatterSpec& spec) override {
    const int count = mpi::reduction_count(spec.part_count, spec.group.size());
    return create({spec.group.handle(), Kind::kReduceScatter, 0, 0},
                  {.source = spec.data,
                   .source_bytes = spec.group.size() * spec.part_count * kFloatBytes,
                   .target = spec.part,
                   .target_bytes = spec.part_count * kFloatBytes,
                   .post = [group = spec.group, count](const void* outgoing, void* incoming) {
                     return group.start_reduce_scatter(static_cast<const float*>(outgoing),
                                                       static_cast<float*>(incoming), count);
                   }});
  }

  // If the test of an exchange's message calls it, it leaves the exchanges alone.
  bool progress() override {
    for (MpiMessage* message : in_flight_) {
      message->advance();
      if (device_ == nullptr) break;  // one test by MPI moves all of this rank's messages
    }
    in_flight_.remove_if([](const MpiMessage& message) { return message.arrived(); });
    if (is_progressing_) return true;
    {
      const ScopedFlag flag(is_progressing_);
      for (ExchangeMessage* exchange : exchanges_) exchange->advance();
    }
    exchanges_.remove_if([](const ExchangeMessage& exchange) { return exchange.arrived(); });
    return !exchanges_.empty() || !in_flight_.empty();
  }
  bool holds_back() const override {
    return std::ranges::any_of(exchanges_, &ExchangeMessage::holds_back) ||
           std::ranges::any_of(in_flight_, [](const MpiMessage* message) { return !message->is_posted(); });
  }

 private:
  std::unique_ptr<Message> create(const QueueKey& key, MpiMessage::Spec spec) {
    return std::make_unique<MpiMessage>(*this, in_flight_, device_, queues_[key], std::move(spec));
  }

  Device* device_;
  InFlight<MpiMessage> in_flight_;
  std::map<QueueKey, Queue> queues_;
  InFlight<ExchangeMessage> exchanges_;
  bool is_progressing_ = false;
};

}  // namespace

std::unique_ptr<Transport> make_host_transport() {
  return std::make_unique<MpiTransport>(nullptr);
}

std::unique_ptr<Transport> make_host_copy_transport(Device& device) {
  return std::make_unique<MpiTransport>(&device);
}

std::unique_ptr<Transport> make_transport(const ProcessGrid& grid, Device& device) {
  if (device.is_host()) return make_host_transport();
  if (auto transport = nccl::make_transport(grid, device)) return transport;  // all ranks of the world
  return make_host_copy_transport(device);
}

}  // namespace convoy
