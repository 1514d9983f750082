/// How links are connected. Everything that blocks happens here.
#include "comm/nccl/link.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "convoy/base/data_type.h"
#include "convoy/base/error.h"
#include "convoy/comm/tags.h"
#include "convoy/device/gpu_links.h"

#include "comm/mpi/check.h"
#include "comm/nccl/check.h"

namespace convoy::nccl {

namespace {

// Number of streams in addition to those of links: arithmetic, and copies to and from the host.
constexpr std::int64_t kOtherStreams = 4;

// The stream runs ahead of arithmetic, as the other end of the link waits.
cuda::Stream make_urgent_stream() {
  int most_urgent = 0;
  CONVOY_CHECK_CUDA(cudaDeviceGetStreamPriorityRange(nullptr, &most_urgent));
  cudaStream_t stream = nullptr;
  CONVOY_CHECK_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, most_urgent));
  return cuda::Stream(stream);
}

}  // namespace

LinkBlocks blocks_of_links(std::int64_t num_links, std::int64_t num_multiprocessors) {
  const std::int64_t quarter = num_multiprocessors / 4;
  return {.pipeline = static_cast<int>(std::clamp<std::int64_t>(quarter / num_links, 1, kMaxPipelineBlocks)),
          .exchange = static_cast<int>(std::clamp<std::int64_t>(quarter, 1, kMaxExchangeBlocks))};
}

void check_num_links(std::int64_t num_links, std::int64_t num_queues) {
  const std::int64_t max_links = num_queues - kOtherStreams;
  if (num_links <= max_links) return;
  refuse(
      "NCCL needs {} links on a rank of this grid, each with its own stream. With CUDA_DEVICE_MAX_CONNECTIONS = {} the "
      "GPU runs only {} more streams at once. Use a smaller schedule.chunks (4 links each) or another schedule.kind. "
      "Do not set that variable: convoy sets it to 32, the maximum.",
      num_links, num_queues, std::max<std::int64_t>(0, max_links));
}

Link::Link(cuda::CudaDevice& device, const mpi::Communicator& group, std::vector<int> members, bool is_pipeline)
    : device_(device),
      group_(group),
      members_(std::move(members)),
      rank_(static_cast<int>(std::find(members_.begin(), members_.end(), group.rank()) - members_.begin())),
      is_pipeline_(is_pipeline),
      stream_(make_urgent_stream()) {
  assert(rank_ < std::ssize(members_) && "a link of others");
  assert((!is_pipeline || (members_.size() == 2 && members_[0] != members_[1])) && "a pipeline from a rank to itself");
}

void Link::connect(const LinkBlocks& blocks) {
  ncclUniqueId id = {};
  exchange_id(id);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.maxCTAs = is_pipeline_ ? blocks.pipeline : blocks.exchange;
  ncclComm_t communicator = nullptr;
  CONVOY_CHECK_NCCL(
      ncclCommInitRankConfig(&communicator, static_cast<int>(members_.size()), id, rank_, &config));  // all members
  communicator_.reset(communicator);
  use_once();
}

// The first member makes it. No message of the transport is under way yet.
void Link::exchange_id(ncclUniqueId& id) const {
  if (rank_ > 0) {
    group_.receive(&id, sizeof(id), members_[0], tags::kNcclLink);
    return;
  }
  CONVOY_CHECK_NCCL(ncclGetUniqueId(&id));
  for (std::size_t i = 1; i < members_.size(); ++i) group_.send(&id, sizeof(id), members_[i], tags::kNcclLink);
}

// The first message between two ranks sets their channel up, as the first reduction does for all, and the call waits
// for the other end: in a step each could wait for what the other would do next.
void Link::use_once() {
  const std::int64_t members = std::ssize(members_);
  Buffer sent(device_, members * kFloatBytes), received(device_, members * kFloatBytes);
  CONVOY_CHECK_NCCL(ncclGroupStart());
  for (const int peer : receivers_) CONVOY_CHECK_NCCL(ncclSend(sent.data(), 1, ncclUint8, peer, handle(), stream()));
  for (const int peer : senders_)
    CONVOY_CHECK_NCCL(ncclRecv(received.data() + peer, 1, ncclUint8, peer, handle(), stream()));
  CONVOY_CHECK_NCCL(ncclGroupEnd());
  if (reduces_)
    CONVOY_CHECK_NCCL(ncclReduceScatter(sent.floats(), received.floats(), 1, ncclFloat32, ncclSum, handle(), stream()));
  cudaError_t status = cudaErrorNotReady;
  for (mpi::Backoff backoff; (status = cudaStreamQuery(stream())) == cudaErrorNotReady; backoff.pause()) check();
  CONVOY_CHECK_CUDA(status);
}

void Link::follow_work() {
  CONVOY_CHECK_CUDA(cudaEventRecord(worked_.get(), device_.stream()));
  CONVOY_CHECK_CUDA(cudaStreamWaitEvent(stream(), worked_.get()));
}

void Link::check() const {
  ncclResult_t state = ncclSuccess;
  CONVOY_CHECK_NCCL(ncclCommGetAsyncError(handle(), &state));
  if (state == ncclSuccess || state == ncclInProgress) return;
  fail("NCCL lost a connection between GPUs: {}. Another rank may have ended; NCCL_DEBUG=WARN says more.",
       ncclGetErrorString(state));
}

std::vector<int> world_ranks(const mpi::Communicator& world, const mpi::Communicator& group,
                             const std::vector<int>& ranks) {
  MPI_Group of_world = MPI_GROUP_NULL, of_group = MPI_GROUP_NULL;
  std::vector<int> translated(ranks.size());
  CONVOY_CHECK_MPI(MPI_Comm_group(world.handle(), &of_world));
  CONVOY_CHECK_MPI(MPI_Comm_group(group.handle(), &of_group));
  CONVOY_CHECK_MPI(
      MPI_Group_translate_ranks(of_group, static_cast<int>(ranks.size()), ranks.data(), of_world, translated.data()));
  MPI_Group_free(&of_group);
  MPI_Group_free(&of_world);
  return translated;
}

}  // namespace convoy::nccl
