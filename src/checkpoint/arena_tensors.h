/// Converts arenas of stages to the tensors of a file, which does not tell how the network was cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/io/checkpoint.h"
#include "convoy/model/arena_layout.h"
#include "convoy/model/network.h"

namespace convoy {

/// Appends an arena's entries as tensors in file order; running statistics only if wanted.
void append_tensors(const ArenaLayout& layout, std::span<const float> arena, bool with_statistics,
                    std::vector<io::NamedTensor>& tensors);

/// A range of a tensor's values that a shard has.
struct ShardPiece {
  const ArenaEntry* entry = nullptr;
  std::int64_t first = 0, count = 0;  ///< range in the tensor, in device order
  std::int64_t offset = 0;            ///< position of the first value in the shard
};
/// Returns the pieces of a shard in the order of its slices, and of the arena within each.
std::vector<ShardPiece> pieces_of(const ArenaLayout& layout, const Shard& shard);

/// Sorts the tensors of each part of the checkpoint (model, moving average, each optimizer slot) into the network's
/// order.
void sort_as_network(const Network& network, io::Checkpoint& checkpoint);

}  // namespace convoy
