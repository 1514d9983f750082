/// The ranks on this rank's node, and the affinity masks that they exchange.
#pragma once

#include <cstddef>
#include <vector>

#include "convoy/comm/communicator.h"

#include "comm/mpi/check.h"
#include "comm/processors.h"

namespace convoy {

/// The ranks of a group that are on this rank's node, for the length of one question.
class NodeGroup {
 public:
  /// All ranks of the group call it.
  explicit NodeGroup(const mpi::Communicator& group) : ranks_(group.split_by_node()) {}

  const mpi::Communicator& ranks() const { return ranks_; }

  /// The affinity masks of all ranks of the node, in their order. All ranks of the node call it.
  std::vector<AffinityMask> affinity_masks() const {
    const AffinityMask mine = affinity_mask();
    std::vector<AffinityMask> masks(static_cast<std::size_t>(ranks_.size()));
    CONVOY_CHECK_MPI(
        MPI_Allgather(mine.data(), sizeof(mine), MPI_BYTE, masks.data(), sizeof(mine), MPI_BYTE, ranks_.handle()));
    return masks;
  }

 private:
  mpi::Communicator ranks_;
};

}  // namespace convoy
