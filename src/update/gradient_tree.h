/// Sums the gradients of a replica's micro-batches in one fixed binary tree, whatever replica they are computed on.
///
/// n leaves are split at the largest power of two below n. Inside a replica a binary counter of partial sums does it:
/// level k holds the sum of 2^k leaves; leaf i is written straight into the level of its trailing ones, and the levels
/// below are added to it from the left:
///     leaf   0      1          2      3                    (i = 3: 11b, level 2)
///     level  0      1 = 0+1    0      2 = (0+1) + (2+3)
/// ElementwiseOps::fold is the same tree over the replicas' sums: with blocks of 2^k leaves the bits of one tree over
/// all.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"

namespace convoy {

class GradientTree {
 public:
  /// Each of `num_leaves` leaves, the micro-batches of this replica, has `arena_count` floats.
  GradientTree(Device& device, ops::ElementwiseOps& elementwise, std::int64_t arena_count, std::int64_t num_leaves);

  /// Returns the arena into which the backward of micro-batch i writes its gradients. Called in ascending order of i.
  float* leaf(std::int64_t i);
  /// Adds values [begin, end) of leaf i, which are complete, to the tree.
  void merge(std::int64_t i, std::int64_t begin, std::int64_t end);
  /// Sums values [begin, end) over all leaves into sum(), after the last merge.
  void finish(std::int64_t begin, std::int64_t end);
  /// The arena that takes the sums.
  float* sum() const { return levels_.back().floats(); }

  /// Number of arenas that n leaves need: floor(log2(n)) + 1.
  static std::int64_t num_levels(std::int64_t num_leaves);

 private:
  ops::ElementwiseOps& elementwise_;
  std::int64_t num_leaves_;
  std::vector<Buffer> levels_;
};

}  // namespace convoy
