/// How the ranks of a node share its cores.
#pragma once

#include <cstdint>

namespace convoy {

/// The number of ranks of a node, and how many of them can compute at the same time, each with all its threads. These
/// are fewer than `ranks` if the node has fewer processors than its ranks have threads. The number may be a fraction:
/// 1.5 of 2 ranks with two threads each on 3 processors.
struct NodeLoad {
  std::int64_t ranks = 1;
  double ranks_at_once = 1;

  bool is_shared() const { return ranks_at_once < static_cast<double>(ranks); }
  bool operator==(const NodeLoad&) const = default;
};

}  // namespace convoy
