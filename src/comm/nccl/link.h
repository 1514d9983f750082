/// Ranks that NCCL has connected, and the stream on which their messages follow each other.
#pragma once

#include <compare>
#include <exception>
#include <memory>
#include <vector>

#include <nccl.h>

#include "convoy/comm/communicator.h"

#include "device/cuda/cuda_device.h"
#include "device/cuda/handles.h"

namespace convoy::nccl {

/// What a link is for, the same on all its ranks; also its place in the order in which links are connected.
struct LinkKey {
  std::vector<int> world_ranks;  ///< by NCCL rank
  int tag = 0;                   ///< kExchange, or the tag of a pipeline's messages from the first rank to the second

  auto operator<=>(const LinkKey&) const = default;
};

inline constexpr int kExchange = -1;

class Link {
 public:
  /// `members` are ranks of the group, by NCCL rank. A pipeline's link has two: from the first to the second.
  Link(cuda::CudaDevice& device, const mpi::Communicator& group, std::vector<int> members, bool is_pipeline);

  /// All members. Blocking.
  void connect();

  ncclComm_t handle() const { return communicator_.get(); }
  cudaStream_t stream() const { return stream_.get(); }

  /// What is put on the stream from here on waits for the device's work issued so far.
  void follow_work();
  /// Throws Error where NCCL has found that the link is broken. Cheap.
  void check() const;

 private:
  /// Frees without waiting for ranks that may never come where an exception unwinds.
  struct End {
    void operator()(ncclComm_t communicator) const noexcept {
      static_cast<void>(std::uncaught_exceptions() > 0 ? ncclCommAbort(communicator) : ncclCommDestroy(communicator));
    }
  };

  void exchange_id(ncclUniqueId& id) const;
  void send_first_byte();

  cuda::CudaDevice& device_;
  mpi::Communicator group_;
  std::vector<int> members_;
  int rank_ = 0;  ///< among the members
  bool is_pipeline_ = false;
  cuda::Stream stream_;
  cuda::Event worked_ = cuda::make_event(cuda::Timing::kOff);
  std::unique_ptr<ncclComm, End> communicator_;
};

/// These ranks of the group as ranks of the world.
std::vector<int> world_ranks(const mpi::Communicator& world, const mpi::Communicator& group,
                             const std::vector<int>& ranks);

}  // namespace convoy::nccl
