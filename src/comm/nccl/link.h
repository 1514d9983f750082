/// Ranks that NCCL has connected, and the stream on which their messages follow each other.
#pragma once

#include <compare>
#include <cstdint>
#include <exception>
#include <memory>
#include <set>
#include <vector>

#include <nccl.h>

#include "convoy/comm/communicator.h"

#include "device/cuda/cuda_device.h"
#include "device/cuda/handles.h"

namespace convoy::nccl {

/// What a link is for, the same on all its ranks; also its position in the order in which links are connected.
struct LinkKey {
  std::vector<int> world_ranks;  ///< by NCCL rank
  int tag = 0;                   ///< kExchange, or the tag of a pipeline's messages from the first rank to the second

  // clang-tidy 14 takes the comparison with 0 inside it for a pointer.
  auto operator<=>(const LinkKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

inline constexpr int kExchange = -1;

/// Numbers of blocks of NCCL's kernels on one link. They hold multiprocessors while they wait for the other end.
struct LinkBlocks {
  int pipeline = 1, exchange = 1;
};

/// Divides multiprocessors among links: at most half of them, but each link has at least one block. Arithmetic keeps
/// the others, and all links of a rank fit the GPU at once: kernels that wait for each other across ranks must not wait
/// for room.
LinkBlocks blocks_of_links(std::int64_t num_links, std::int64_t num_multiprocessors);

/// Throws RequestError if the streams of `num_links` links would share queues of the GPU: one that waits for its sender
/// would hold up another. A pipeline has a link for each boundary of the rank and each direction: four, or four for
/// each chunk if it is interleaved. The exchange of gradients has one link.
void check_num_links(std::int64_t num_links, std::int64_t num_queues);

class Link {
 public:
  /// `members` are ranks of the group, by NCCL rank. A pipeline's link has two: from the first to the second.
  Link(cuda::CudaDevice& device, const mpi::Communicator& group, std::vector<int> members, bool is_pipeline);

  // These declare, before connect(), how the link will be used. Peers are NCCL ranks.
  void will_send_to(int peer) { receivers_.insert(peer); }
  void will_receive_from(int peer) { senders_.insert(peer); }
  void will_reduce() { reduces_ = true; }

  /// Connects the members, and uses the link once for each kind and peer, which sets up what it needs. All members call
  /// it, with equal `blocks`, and wait for each other. Throws Error if NCCL, CUDA or MPI reports a failure.
  void connect(const LinkBlocks& blocks);

  ncclComm_t handle() const { return communicator_.get(); }
  cudaStream_t stream() const { return stream_.get(); }

  /// Makes what is put on the stream from here on wait for the device's work issued so far.
  void follow_work();
  /// Throws Error if NCCL has found that the link is broken. Cheap.
  void check() const;

 private:
  /// Frees the communicator; while an exception unwinds, without waiting for ranks that may never come.
  struct End {
    void operator()(ncclComm_t communicator) const noexcept {
      static_cast<void>(std::uncaught_exceptions() > 0 ? ncclCommAbort(communicator) : ncclCommDestroy(communicator));
    }
  };

  void exchange_id(ncclUniqueId& id) const;
  void use_once();

  cuda::CudaDevice& device_;
  mpi::Communicator group_;
  std::vector<int> members_;
  int rank_ = 0;  ///< among the members
  bool is_pipeline_ = false;
  std::set<int> receivers_, senders_;
  bool reduces_ = false;
  cuda::Stream stream_;
  cuda::Event worked_ = cuda::make_event(cuda::Timing::kOff);
  std::unique_ptr<ncclComm, End> communicator_;
};

/// Returns these ranks of the group as ranks of the world.
std::vector<int> world_ranks(const mpi::Communicator& world, const mpi::Communicator& group,
                             const std::vector<int>& ranks);

}  // namespace convoy::nccl
