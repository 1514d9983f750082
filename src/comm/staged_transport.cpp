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
#include <numeric>
#include <tuple>
#include <utility>

#include "convoy/base/data_type.h"
#include "convoy/comm/transport.h"

#include "comm/mpi_limits.h"
#include "comm/under_way.h"

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
  struct Plan {
    const void* source = nullptr;  ///< device memory
    std::int64_t source_bytes = 0;
    void* target = nullptr;  ///< device memory
    std::int64_t target_bytes = 0;
    std::function<mpi::Request(const void* outgoing, void* incoming)> post;
  };

  StagedMessage(Transport& transport, UnderWay<StagedMessage>& under_way, Device& device, Queue& queue, Plan plan)
      : transport_(transport),
        under_way_(under_way),
        queue_(queue),
        plan_(std::move(plan)),
        outgoing_(device, plan_.source_bytes),
        incoming_(device, plan_.target_bytes),
        lane_(device.make_copy_lane()) {
    under_way.make_room();
  }

  void start() override {
    assert(phase_ == Phase::kIdle && "a message under way was started again");
    lane_->mark();
    place_ = queue_.num_started++;
    phase_ = Phase::kWaits;
    under_way_.add(*this);
    advance();
    if (arrived()) under_way_.remove(*this);
  }

  bool test() override {
    if (phase_ == Phase::kIdle) return true;
    if (!arrived()) transport_.progress();  // all: it may have to wait for its turn
    if (!arrived()) return false;
    if (plan_.target_bytes > 0) lane_->join();
    phase_ = Phase::kIdle;
    return true;
  }

  bool active() const override { return phase_ != Phase::kIdle; }
  bool arrived() const { return phase_ == Phase::kArrived; }
  bool is_posted() const { return phase_ == Phase::kTravels || arrived(); }

  /// As far as it goes without waiting.
  void advance() {
    if (phase_ == Phase::kWaits && lane_->done()) {
      if (plan_.source_bytes > 0) lane_->start_to_host(outgoing_.data(), plan_.source, plan_.source_bytes);
      phase_ = Phase::kLeaves;
    }
    if (phase_ == Phase::kLeaves && lane_->done()) phase_ = Phase::kReady;
    if (phase_ == Phase::kReady && place_ == queue_.num_posted) {
      request_ = plan_.post(outgoing_.data(), incoming_.data());
      ++queue_.num_posted;
      phase_ = Phase::kTravels;
    }
    if (phase_ == Phase::kTravels && request_.test()) {
      if (plan_.target_bytes > 0) lane_->start_to_device(plan_.target, incoming_.data(), plan_.target_bytes);
      phase_ = Phase::kArrived;
    }
  }

 private:
  enum class Phase { kIdle, kWaits, kLeaves, kReady, kTravels, kArrived };

  Transport& transport_;
  UnderWay<StagedMessage>& under_way_;
  Queue& queue_;
  Plan plan_;
  HostBuffer outgoing_, incoming_;
  std::unique_ptr<CopyLane> lane_;
  mpi::Request request_;
  std::int64_t place_ = 0;  ///< in the queue
  Phase phase_ = Phase::kIdle;
};

class StagedTransport final : public Transport {
 public:
  explicit StagedTransport(Device& device) : device_(device) {}

  std::string description() const override { return "MPI through pinned host memory"; }

  std::unique_ptr<Message> send(const MessageSpec& spec) override {
    check_message_size(spec.size_bytes);
    return plan(
        {spec.group.handle(), Kind::kSend, spec.peer, spec.tag},
        {.source = spec.data,
         .source_bytes = spec.size_bytes,
         .post = [group = spec.group, size_bytes = spec.size_bytes, peer = spec.peer, tag = spec.tag](
                     const void* outgoing, void*) { return group.start_send(outgoing, size_bytes, peer, tag); }});
  }

  std::unique_ptr<Message> receive(const MessageSpec& spec) override {
    check_message_size(spec.size_bytes);
    return plan(
        {spec.group.handle(), Kind::kReceive, spec.peer, spec.tag},
        {.target = spec.data,
         .target_bytes = spec.size_bytes,
         .post = [group = spec.group, size_bytes = spec.size_bytes, peer = spec.peer, tag = spec.tag](
                     const void*, void* incoming) { return group.start_receive(incoming, size_bytes, peer, tag); }});
  }

  // All ranks of the group.
  std::unique_ptr<Message> reduce_scatter(const ReduceScatterSpec& spec) override {
    std::vector<int> counts = reduction_counts(spec.counts);
    const std::int64_t total = std::accumulate(spec.counts.begin(), spec.counts.end(), std::int64_t{0});
    return plan({spec.group.handle(), Kind::kReduceScatter, 0, 0},
                {.source = spec.data,
                 .source_bytes = total * kFloatBytes,
                 .target = spec.part,
                 .target_bytes = spec.counts[spec.group.rank()] * kFloatBytes,
                 .post = [group = spec.group, counts = std::move(counts)](const void* outgoing, void* incoming) {
                   return group.start_reduce_scatter(static_cast<const float*>(outgoing), static_cast<float*>(incoming),
                                                     counts);
                 }});
  }

  void connect() override {}

  void start_together(std::span<const std::unique_ptr<Message>> messages) override {
    for (const auto& message : messages) message->start();
  }

  bool progress() override {
    for (StagedMessage* message : under_way_) message->advance();
    under_way_.remove_if([](const StagedMessage& message) { return message.arrived(); });
    return !under_way_.empty();
  }

  bool holds_back() const override {
    return std::ranges::any_of(under_way_, [](const StagedMessage* message) { return !message->is_posted(); });
  }

 private:
  std::unique_ptr<Message> plan(const QueueKey& key, StagedMessage::Plan plan) {
    return std::make_unique<StagedMessage>(*this, under_way_, device_, queues_[key], std::move(plan));
  }

  Device& device_;
  UnderWay<StagedMessage> under_way_;
  std::map<QueueKey, Queue> queues_;
};

}  // namespace

std::unique_ptr<Transport> make_staged_transport(Device& device) {
  return std::make_unique<StagedTransport>(device);
}

}  // namespace convoy
