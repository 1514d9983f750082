/// Calls between ncclGroupStart and ncclGroupEnd become one piece of work a stream, which gives its messages to MPI
/// when it is reached, and is done when they are. Sends are synchronous: one whose receive is never reached is never
/// done. Where two ranks use a communicator for the first time, in one direction, the call waits for the other end.
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include <mpi.h>
#include <nccl.h>

#include "parallel/mpi_main.h"
#include "parallel/stand_in/streams.h"

struct ncclComm {
  std::vector<int> world_ranks;
  int rank = 0;
  int tag = 0;
  std::set<int> receivers = {}, senders = {};  ///< that were used
};

namespace {

using convoy::test::world;

constexpr int kFirstTag = 16'000;  // above those of tests
constexpr int kLinksARank = 1'000;
constexpr int kFirstUse = 10'000;  // above a link's tag

/// What a group of calls has to do on one stream.
struct Work {
  cudaStream_t stream = nullptr;
  std::vector<std::function<MPI_Request()>> posts;
  std::vector<std::function<void()>> sums;  ///< once all messages are there
  std::vector<MPI_Request> requests;
  bool posted = false;

  bool go_on() {
    if (!posted) {
      for (const auto& post : posts) requests.push_back(post());
      posted = true;
    }
    int done = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done == 0) return false;
    for (const auto& sum : sums) sum();
    return true;
  }
};

int depth = 0;
std::vector<MPI_Request> first_uses;  // of a group
int num_first_uses = 0;
int num_made = 0;
std::vector<int> blocks_made;  // by link
bool links_broken = false;
std::vector<std::shared_ptr<Work>> group;  // by stream

Work& work_on(cudaStream_t stream) {
  for (const auto& work : group)
    if (work->stream == stream) return *work;
  group.push_back(std::make_shared<Work>());
  group.back()->stream = stream;
  return *group.back();
}

MPI_Request& first_use() {
  ++num_first_uses;
  return first_uses.emplace_back(MPI_REQUEST_NULL);
}

int bytes_of(std::size_t count, ncclDataType_t type) {
  return static_cast<int>(count * (type == ncclFloat32 ? sizeof(float) : 1));
}

}  // namespace

namespace convoy::test::streams {

std::vector<int> blocks_of_links_made() {
  return blocks_made;
}

int first_uses_so_far() {
  return num_first_uses;
}

void set_links_broken(bool broken) {
  links_broken = broken;
}

}  // namespace convoy::test::streams

ncclResult_t ncclGetVersion(int* version) {
  *version = 21803;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess ? "no error" : "remote process exited or there was a network error";
}
const char* ncclGetLastError(ncclComm_t) {
  return "";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  *id = {world().rank(), num_made++};
  return ncclSuccess;
}

// The first rank learns who is who and tells the others.
ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  blocks_made.push_back(config->maxCTAs);
  auto* made = new ncclComm{std::vector<int>(static_cast<std::size_t>(size)), rank, 0};
  made->tag = kFirstTag + id.root * kLinksARank + id.number % kLinksARank;
  std::vector<int>& ranks = made->world_ranks;
  ranks[0] = id.root;
  MPI_Comm comm = world().handle();
  if (rank == 0) {
    for (int i = 1; i < size; ++i) {
      MPI_Status status;
      int other = 0;
      MPI_Recv(&other, 1, MPI_INT, MPI_ANY_SOURCE, made->tag, comm, &status);
      ranks[other] = status.MPI_SOURCE;
    }
    for (int i = 1; i < size; ++i) MPI_Send(ranks.data(), size, MPI_INT, ranks[i], made->tag, comm);
  } else {
    MPI_Send(&rank, 1, MPI_INT, id.root, made->tag, comm);
    MPI_Recv(ranks.data(), size, MPI_INT, id.root, made->tag, comm, MPI_STATUS_IGNORE);
  }
  *communicator = made;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = links_broken ? ncclRemoteError : ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  return ncclCommDestroy(communicator);
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (--depth > 0) return ncclSuccess;
  MPI_Waitall(static_cast<int>(first_uses.size()), first_uses.data(), MPI_STATUSES_IGNORE);
  first_uses.clear();
  for (const auto& work : group) convoy::test::streams::issue(work->stream, [work] { return work->go_on(); });
  group.clear();
  return ncclSuccess;
}

ncclResult_t ncclSend(const void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  ncclGroupStart();
  if (communicator->receivers.insert(peer).second)
    MPI_Issend(nullptr, 0, MPI_BYTE, communicator->world_ranks[peer], communicator->tag + kFirstUse, world().handle(),
               &first_use());
  work_on(stream).posts.emplace_back([=] {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Issend(data, bytes_of(count, type), MPI_BYTE, communicator->world_ranks[peer], communicator->tag,
               world().handle(), &request);
    return request;
  });
  return ncclGroupEnd();
}

ncclResult_t ncclRecv(void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
                      cudaStream_t stream) {
  ncclGroupStart();
  if (communicator->senders.insert(peer).second)
    MPI_Irecv(nullptr, 0, MPI_BYTE, communicator->world_ranks[peer], communicator->tag + kFirstUse, world().handle(),
              &first_use());
  work_on(stream).posts.emplace_back([=] {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(data, bytes_of(count, type), MPI_BYTE, communicator->world_ranks[peer], communicator->tag,
              world().handle(), &request);
    return request;
  });
  return ncclGroupEnd();
}

// All send to the root, which adds in rank order.
ncclResult_t ncclReduce(const void* data, void* sum, std::size_t count, ncclDataType_t type, ncclRedOp_t, int root,
                        ncclComm_t communicator, cudaStream_t stream) {
  ncclGroupStart();
  ncclSend(data, count, type, root, communicator, stream);
  if (communicator->rank == root) {
    const std::size_t size = communicator->world_ranks.size();
    const auto terms = std::make_shared<std::vector<float>>(size * count);
    for (std::size_t r = 0; r < size; ++r)
      ncclRecv(terms->data() + r * count, count, type, static_cast<int>(r), communicator, stream);
    work_on(stream).sums.emplace_back([terms, sum = static_cast<float*>(sum), count, size] {
      for (std::size_t i = 0; i < count; ++i) {
        sum[i] = 0;
        for (std::size_t r = 0; r < size; ++r) sum[i] += (*terms)[r * count + i];
      }
    });
  }
  return ncclGroupEnd();
}

ncclResult_t ncclReduceScatter(const void* data, void* part, std::size_t part_count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t communicator, cudaStream_t stream) {
  ncclGroupStart();
  const std::size_t size = communicator->world_ranks.size();
  for (std::size_t root = 0; root < size; ++root)
    ncclReduce(static_cast<const float*>(data) + root * part_count, part, part_count, type, op, static_cast<int>(root),
               communicator, stream);
  return ncclGroupEnd();
}
