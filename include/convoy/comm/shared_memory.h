/// Memory that ranks of one node have in common: one of them writes it, the others read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "convoy/comm/communicator.h"

namespace convoy {

/// Returns the ranks of `group`, in its order, to which the same memory is as near as to this rank: they are on its
/// node and, if Linux tells, their first processors are in the same NUMA domain. All ranks of `group` call it.
mpi::Communicator split_by_memory(const mpi::Communicator& group);

/// Memory that ranks of one node share. It has no name in any file system: however the ranks end, nothing is left.
class SharedMemory {
 public:
  /// Makes zeroed memory of at least one byte. Rank 0 of `group` may write it; the others would get a segmentation
  /// fault. All ranks of `group`, which are on one node, call it. Throws Error on all of them if the system refuses it
  /// to one, as in containers that hide the ranks' processes from each other. A page is taken when it is first written.
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
