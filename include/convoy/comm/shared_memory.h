/// Shares memory between ranks of one node: one of them writes it, the others read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "convoy/comm/communicator.h"

namespace convoy {

/// Returns the group of those ranks of `group`, in its order, that have the same memory near them as this rank: they
/// are on its node and, if Linux tells, their first processors are in the same NUMA domain. All ranks of `group` call
/// it.
mpi::Communicator split_by_memory(const mpi::Communicator& group);

/// Memory that ranks of one node share. It has no name in any file system, so nothing remains, however the ranks end.
class SharedMemory {
 public:
  /// Allocates zeroed memory of at least one byte. Rank 0 of `group` may write it; writing it on another rank is a
  /// segmentation fault. All ranks of `group`, which are on one node, call it. Throws Error on all of them if the
  /// system refuses it to one of them, as in containers that hide the ranks' processes from each other. The system
  /// allocates a page when it is first written.
  SharedMemory(const mpi::Communicator& group, std::int64_t size_bytes);

  std::byte* data() const { return data_.get(); }
  std::int64_t size_bytes() const { return data_ == nullptr ? 0 : data_.get_deleter().size_bytes; }

 private:
  struct Unmap {
    std::int64_t size_bytes;
    void operator()(std::byte* data) const noexcept;
  };
  std::unique_ptr<std::byte, Unmap> data_;
};

}  // namespace convoy
