/// The links that NCCL makes between the GPUs of a grid, and the memory that they take: known before anything is
/// connected.
#pragma once

#include <algorithm>
#include <cstdint>

#include "convoy/base/grid_shape.h"

namespace convoy {

/// Largest number of blocks of NCCL's kernels on one link, each with buffers of its own. More do not make a message
/// faster.
inline constexpr std::int64_t kMaxPipelineBlocks = 4;
inline constexpr std::int64_t kMaxExchangeBlocks = 16;

/// Estimates an upper bound of the bytes that CUDA and NCCL take of a rank's GPU, in addition to the rank's own
/// buffers.
///   context with the code of cuDNN, cuBLAS and NCCL, nothing sent yet   1.06 GB on an H100
///   for each block of a link and each peer                              10 MiB to receive, 2 MiB to send
/// Both as reported in https://github.com/NVIDIA/nccl/issues/1685. Replicas on other nodes share the network's buffers,
/// so that at most seven peers count: the other GPUs of a node with eight.
constexpr std::int64_t gpu_library_bytes(const GridShape& grid, std::int64_t chunks, bool trains) {
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20, kContext = 1024 * kMebibyte, kBlock = 12 * kMebibyte;
  constexpr std::int64_t kMaxPeers = 7;
  // For each chunk a link from the rank before and one to the rank after, forward and, in training, backward.
  const std::int64_t pipeline = grid.stages == 1 ? 0 : (trains ? 4 : 2) * chunks * kMaxPipelineBlocks;
  const std::int64_t exchange = trains ? std::min(grid.replicas - 1, kMaxPeers) * kMaxExchangeBlocks : 0;
  return kContext + (pipeline + exchange) * kBlock;
}

}  // namespace convoy
