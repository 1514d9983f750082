/// Messages by way of pinned host memory. Each has a copy lane and a pinned buffer of its own, so none waits for
/// another but where MPI's order demands it:
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
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "convoy/base/data_type.h"
#include "convoy/comm/transport.h"

#include "comm/exchange_message.h"
#include "comm/in_flight.h"
#include "comm/mpi/check.h"

namespace convoy {

namespace {

/// MPI matches the messages of one tag, and the reductions of one group, in the order in which it is given them: the
/// order in which they were started, whichever copy ends first.
struct Queue {
  std::int64_t num_started = 0;
  std::int64_t num_posted = 0;
};

enum class Kind { kSend, kReceive, kReduceScatter };
using QueueKey = std::tuple<MPI_Comm, Kind, int, int>;  // group, kind, peer, tag

class StagedMessage final : public Message {
 public:
  struct Spec {
    const void* source = nullptr;  ///< device memory
    std::int64_t source_bytes = 0;
    void* target = nullptr;  ///< device memory
    std::int64_t target_bytes = 0;
    std::function<mpi::Request(const void* outgoing, void* incoming)> post;
  };

  StagedMessage(Transport& transport, InFlight<StagedMessage>& in_flight, Device& device, Queue& queue, Spec spec)
      : transport_(transport),
        in_flight_(in_flight),
        queue_(queue),
        spec_(std::move(spec)),
        outgoing_(device, spec_.source_bytes),
        incoming_(device, spec_.target_bytes),
        lane_(device.make_copy_lane()) {
    in_flight.make_room();
  }

  void start() override {
    assert(phase_ == Phase::kIdle && "a message that is still in flight was started again");
    lane_->mark();
    position_ = queue_.num_started++;
    phase_ = Phase::kWaits;
    in_flight_.add(*this);
    advance();
    if (arrived()) in_flight_.remove(*this);
  }

  bool test() override {
    if (phase_ == Phase::kIdle) return true;
    if (!arrived()) transport_.progress();  // all: it may have to wait for its turn
    if (!arrived()) return false;
    if (spec_.target_bytes > 0) lane_->join();
    phase_ = Phase::kIdle;
    return true;
  }

  bool active() const override { return phase_ != Phase::kIdle; }
  bool arrived() const { return phase_ == Phase::kArrived; }
  bool is_posted() const { return phase_ == Phase::kTravels || arrived(); }

  /// As far as it goes without waiting.
  void advance() {
    if (phase_ == Phase::kWaits && lane_->done()) {
      if (spec_.source_bytes > 0) lane_->start_to_host(outgoing_.data(), spec_.source, spec_.source_bytes);
      phase_ = Phase::kLeaves;
    }
    if (phase_ == Phase::kLeaves && lane_->done()) phase_ = Phase::kReady;
    if (phase_ == Phase::kReady && position_ == queue_.num_posted) {
      request_ = spec_.post(outgoing_.data(), incoming_.data());
      ++queue_.num_posted;
      phase_ = Phase::kTravels;
    }
    if (phase_ == Phase::kTravels && request_.test()) {
      if (spec_.target_bytes > 0) lane_->start_to_device(spec_.target, incoming_.data(), spec_.target_bytes);
      phase_ = Phase::kArrived;
    }
  }

 private:
  enum class Phase { kIdle, kWaits, kLeaves, kReady, kTravels, kArrived };

  Transport& transport_;
  InFlight<StagedMessage>& in_flight_;
  Queue& queue_;
  Spec spec_;
  HostBuffer outgoing_, incoming_;
  std::unique_ptr<CopyLane> lane_;
  mpi::Request request_;
  std::int64_t position_ = 0;  ///< in the queue
  Phase phase_ = Phase::kIdle;
};

class StagedTransport final : public Transport {
 public:
  explicit StagedTransport(Device& device) : device_(device) {}

  std::string description() const override { return "MPI through pinned host memory"; }

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

  std::unique_ptr<Message> exchange(std::vector<ExchangeRound> rounds) override {
    return exchanges_.create(*this, std::move(rounds));
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

  bool progress() override {
    for (StagedMessage* message : in_flight_) message->advance();
    in_flight_.remove_if([](const StagedMessage& message) { return message.arrived(); });
    const bool any = exchanges_.progress();
    return any || !in_flight_.empty();
  }

  bool holds_back() const override {
    return exchanges_.hold_back() ||
           std::ranges::any_of(in_flight_, [](const StagedMessage* message) { return !message->is_posted(); });
  }

 private:
  std::unique_ptr<Message> create(const QueueKey& key, StagedMessage::Spec spec) {
    return std::make_unique<StagedMessage>(*this, in_flight_, device_, queues_[key], std::move(spec));
  }

  Device& device_;
  InFlight<StagedMessage> in_flight_;
  std::map<QueueKey, Queue> queues_;
  ExchangesInFlight exchanges_;
};

}  // namespace

std::unique_ptr<Transport> make_staged_transport(Device& device) {
  return std::make_unique<StagedTransport>(device);
}

}  // namespace convoy
