/// Messages are kernels on streams of their own, next to the arithmetic. The host never waits: start() makes the link's
/// stream wait for the device's work, test() makes the device's work wait for the message.
///
///   arithmetic   ... start() .......................... test() ... reads what was received
///   link             waits for worked, message, moved
///
/// Messages on one stream wait for each other. So each neighbour and direction of a pipeline has a link of its own, and
/// a receive that waits for its sender holds nothing else up; any other group has one, and takes its turns in order.
#include "comm/nccl/nccl_transport.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "comm/nccl/check.h"
#include "comm/nccl/link.h"

namespace convoy::nccl {

namespace {

/// Number of queues of this process's GPU, from its environment (mpi::Session sets it); CUDA's default is 8.
std::int64_t num_queues() {
  constexpr std::int64_t kDefault = 8;
  const char* text = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  const std::int64_t asked = text == nullptr ? 0 : std::atoll(text);
  return asked > 0 ? asked : kDefault;
}

class GpuMessage final : public Message {
 public:
  using Issue = std::function<void(ncclComm_t, cudaStream_t)>;

  /// Nothing to issue: an empty message, complete as soon as it is started.
  GpuMessage(cuda::CudaDevice& device, Link& link, std::int64_t& num_active, Issue issue)
      : device_(device), link_(link), num_active_(num_active), issue_(std::move(issue)) {}

  void start() override {
    assert(!active_ && "a message that is still in flight was started again");
    link_.follow_work();
    if (issue_) issue_(link_.handle(), link_.stream());
    CONVOY_CHECK_CUDA(cudaEventRecord(moved_.get(), link_.stream()));
    active_ = true;
    ++num_active_;
  }

  bool test() override {
    if (!active_) return true;
    CONVOY_CHECK_CUDA(cudaStreamWaitEvent(device_.stream(), moved_.get()));
    active_ = false;
    --num_active_;
    return true;
  }

  bool active() const override { return active_; }

 private:
  cuda::CudaDevice& device_;
  Link& link_;
  std::int64_t& num_active_;
  Issue issue_;
  cuda::Event moved_ = cuda::make_event(cuda::Timing::kOff);
  bool active_ = false;
};

void send_to(int peer, const MessageSpec& spec, ncclComm_t communicator, cudaStream_t stream) {
  CONVOY_CHECK_NCCL(
      ncclSend(spec.data, static_cast<std::size_t>(spec.size_bytes), ncclUint8, peer, communicator, stream));
}

void receive_from(int peer, const MessageSpec& spec, ncclComm_t communicator, cudaStream_t stream) {
  CONVOY_CHECK_NCCL(
      ncclRecv(spec.data, static_cast<std::size_t>(spec.size_bytes), ncclUint8, peer, communicator, stream));
}

// NCCL takes empty messages for messages.
void exchange_messages(const ExchangePhase& phase, ncclComm_t communicator, cudaStream_t stream) {
  CONVOY_CHECK_NCCL(ncclGroupStart());
  for (const MessageSpec& spec : phase.receives)
    if (spec.size_bytes > 0) receive_from(spec.peer, spec, communicator, stream);
  for (const MessageSpec& spec : phase.sends)
    if (spec.size_bytes > 0) send_to(spec.peer, spec, communicator, stream);
  CONVOY_CHECK_NCCL(ncclGroupEnd());
}

class NcclTransport final : public Transport {
 public:
  NcclTransport(const ProcessGrid& grid, cuda::CudaDevice& device) : grid_(grid), device_(device) {}

  std::string description() const override { return "NCCL"; }

  std::unique_ptr<Message> send(const MessageSpec& spec) override {
    const bool along = is_pipeline(spec.group);
    Link& link = along ? pipeline_link(spec, spec.group.rank(), spec.peer) : exchange_link(spec.group);
    const int to = along ? 1 : spec.peer;
    link.will_send_to(to);
    return create(link, spec.size_bytes, [spec, to](ncclComm_t communicator, cudaStream_t stream) {
      send_to(to, spec, communicator, stream);
    });
  }

  std::unique_ptr<Message> receive(const MessageSpec& spec) override {
    const bool along = is_pipeline(spec.group);
    Link& link = along ? pipeline_link(spec, spec.peer, spec.group.rank()) : exchange_link(spec.group);
    const int from = along ? 0 : spec.peer;
    link.will_receive_from(from);
    return create(link, spec.size_bytes, [spec, from](ncclComm_t communicator, cudaStream_t stream) {
      receive_from(from, spec, communicator, stream);
    });
  }

  // All phases, and the work after each, are put on the link's stream at once.
  std::unique_ptr<Message> exchange(std::vector<ExchangePhase> phases) override {
    Link& link = exchange_link(group_of(phases));
    for (const ExchangePhase& phase : phases) {
      for (const MessageSpec& spec : phase.receives) link.will_receive_from(spec.peer);
      for (const MessageSpec& spec : phase.sends) link.will_send_to(spec.peer);
    }
    return std::make_unique<GpuMessage>(
        device_, link, num_active_,
        [phases = std::move(phases), &device = device_](ncclComm_t communicator, cudaStream_t stream) {
          for (const ExchangePhase& phase : phases) {
            exchange_messages(phase, communicator, stream);
            if (phase.then) device.issue_on(stream, phase.then);
          }
        });
  }

  // All ranks of the group.
  std::unique_ptr<Message> reduce_scatter(const ReduceScatterSpec& spec) override {
    Link& link = exchange_link(spec.group);
    link.will_reduce();
    return create(link, spec.part_count, [spec](ncclComm_t communicator, cudaStream_t stream) {
      CONVOY_CHECK_NCCL(ncclReduceScatter(spec.data, spec.part, static_cast<std::size_t>(spec.part_count), ncclFloat32,
                                          ncclSum, communicator, stream));
    });
  }

  // Each rank connects its links in the order of their keys, which is the same order for all: of the links that are not
  // connected, the first has every member waiting for nothing else, so it will be; then the next. No rank waits for
  // ever. All ranks of the world: both ends of a link must take the same blocks for it.
  void connect() override {
    const mpi::Communicator& world = grid_.world();
    const std::int64_t num_links = world.max(std::ssize(links_));
    if (num_links == 0) return;
    check_num_links(num_links, -world.max(-num_queues()));
    const LinkBlocks blocks = blocks_of_links(num_links, -world.max(-device_.properties().multiProcessorCount));
    for (auto& [key, link] : links_) link.connect(blocks);
  }

  // What is started has left.
  bool holds_back() const override { return false; }

  // The GPU moves them on by itself. A rank that is gone is seen here, by an error instead of a wait without end.
  bool progress() override {
    for (const auto& [key, link] : links_) link.check();
    return num_active_ > 0;
  }

 private:
  bool is_pipeline(const mpi::Communicator& group) const { return group.handle() == grid_.model().handle(); }

  static const mpi::Communicator& group_of(const std::vector<ExchangePhase>& phases) {
    const ExchangePhase& first = phases.front();
    return first.receives.empty() ? first.sends.front().group : first.receives.front().group;
  }

  Link& pipeline_link(const MessageSpec& spec, int from, int to) { return link_of(spec.group, {from, to}, spec.tag); }

  Link& exchange_link(const mpi::Communicator& group) {
    std::vector<int> all(group.size());
    std::iota(all.begin(), all.end(), 0);
    return link_of(group, all, kExchange);
  }

  Link& link_of(const mpi::Communicator& group, const std::vector<int>& members, int tag) {
    const LinkKey key{.world_ranks = world_ranks(grid_.world(), group, members), .tag = tag};
    return links_.try_emplace(key, device_, group, members, tag != kExchange).first->second;
  }

  std::unique_ptr<Message> create(Link& link, std::int64_t size, GpuMessage::Issue issue) {
    return std::make_unique<GpuMessage>(device_, link, num_active_, size > 0 ? std::move(issue) : nullptr);
  }

  const ProcessGrid& grid_;
  cuda::CudaDevice& device_;
  std::map<LinkKey, Link> links_;
  std::int64_t num_active_ = 0;
};

// All ranks of the world, and the same on all of them.
bool each_has_its_own(const std::string& gpu, const mpi::Communicator& world) {
  const std::vector<std::byte> gathered = world.gather(std::as_bytes(std::span(gpu)), 0);
  const std::string_view gpus(reinterpret_cast<const char*>(gathered.data()), gathered.size());
  std::set<std::string_view> different;
  for (std::size_t at = 0; at < gpus.size(); at += gpu.size()) different.insert(gpus.substr(at, gpu.size()));
  return world.max(std::ssize(different)) == world.size();  // only rank 0 has counted
}

}  // namespace

std::unique_ptr<Transport> make_nccl_transport(const ProcessGrid& grid, cuda::CudaDevice& device) {
  return std::make_unique<NcclTransport>(grid, device);
}

std::unique_ptr<Transport> make_transport(const ProcessGrid& grid, Device& device) {
  auto* gpu = dynamic_cast<cuda::CudaDevice*>(&device);
  if (gpu == nullptr || !each_has_its_own(gpu->hardware_id(), grid.world())) return nullptr;
  return make_nccl_transport(grid, *gpu);
}

}  // namespace convoy::nccl
