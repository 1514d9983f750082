/// Stages' arenas as the tensors of a file, which does not tell how the network was cut.
#pragma once

#include <span>
#include <vector>

#include "convoy/io/checkpoint.h"
#include "convoy/model/arena_layout.h"
#include "convoy/model/network.h"

namespace convoy {

/// An arena's entries as tensors in file order; statistics only where wanted.
void append_tensors(const ArenaLayout& layout, std::span<const float> arena, bool with_statistics,
                    std::vector<io::NamedTensor>& tensors);

/// Of each part of the checkpoint.
void sort_as_network(const Network& network, io::Checkpoint& checkpoint);

}  // namespace convoy
