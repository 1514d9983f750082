/// Stages' arenas as the tensors of a file, which does not tell how the network was cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/io/checkpoint.h"
#include "convoy/model/arena_layout.h"
#include "convoy/model/network.h"

namespace convoy {

/// An arena's entries as tensors in file order; statistics only where wanted.
void append_tensors(const ArenaLayout& layout, std::span<const float> arena, bool with_statistics,
                    std::vector<io::NamedTensor>& tensors);

/// Values of a tensor that a shard has.
struct ShardPiece {
  const ArenaEntry* entry = nullptr;
  std::int64_t first = 0, count = 0;  ///< in the tensor, in device order
  std::int64_t offset = 0;            ///< of the first one in the shard
};
/// In the order of the arena.
std::vector<ShardPiece> pieces_of(const ArenaLayout& layout, const Shard& shard);

/// Of each part of the checkpoint.
void sort_as_network(const Network& network, io::Checkpoint& checkpoint);

}  // namespace convoy
