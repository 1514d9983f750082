/// The affinity masks that the ranks of a node exchange.
#pragma once

#include <cstddef>
#include <vector>

#include "convoy/comm/communicator.h"

#include "comm/mpi/check.h"
#include "comm/processors.h"

namespace convoy {

/// The affinity masks of all ranks of `node`, in their order. All ranks of the node call it.
inline std::vector<AffinityMask> affinity_masks(const mpi::Communicator& node) {
  const AffinityMask mine = affinity_mask();
  std::vector<AffinityMask> masks(static_cast<std::size_t>(node.size()));
  CONVOY_CHECK_MPI(
      MPI_Allgather(mine.data(), sizeof(mine), MPI_BYTE, masks.data(), sizeof(mine), MPI_BYTE, node.handle()));
  return masks;
}

}  // namespace convoy
