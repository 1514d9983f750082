/// Converts the arenas of stages to the tensors of a file, in which the cut of the network into stages is not visible.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/io/checkpoint.h"
#include "convoy/model/arena_layout.h"
#include "convoy/model/network.h"

namespace convoy {

/// Appends the parameters of an arena in host memory to `tensors`, in file order. Running statistics are appended only
/// if `with_statistics` is set.
void append_tensors(const ArenaLayout& layout, std::span<const float> arena, bool with_statistics,
                    std::vector<io::NamedTensor>& tensors);

/// A range of a tensor's values that lies in a shard.
struct ShardPiece {
  const ArenaEntry* entry = nullptr;  ///< the tensor, in the layout that was given to pieces_of()
  std::int64_t first = 0, count = 0;  ///< the range in the tensor, in device order
  std::int64_t offset = 0;            ///< index of its first value in the shard
};
/// Returns the pieces of all tensors in a shard, slice after slice. `layout` must outlive the result.
std::vector<ShardPiece> pieces_of(const ArenaLayout& layout, const Shard& shard);

/// Sorts the tensors of each part of the checkpoint (model, moving average, each optimizer slot) into the network's
/// order.
void sort_as_network(const Network& network, io::Checkpoint& checkpoint);

}  // namespace convoy
