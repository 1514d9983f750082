/// Sums the gradients of a replica's micro-batches in one fixed binary tree, which does not depend on the replica that
/// computes a micro-batch.
///
/// A leaf is the gradient of one micro-batch. The tree over n leaves is split at the largest power of two below n. It
/// is computed by a binary counter of partial sums: the buffer of level k holds a sum of 2^k leaves. Leaf i is written
/// to the buffer of level k, where k is the number of trailing one bits of i. Then the sums of all lower levels are
/// added to it:
///     leaf   0      1          2      3                    (i = 3 = 11b: level 2)
///     level  0      1 = 0+1    0      2 = (0+1) + (2+3)
/// ElementwiseOps::fold computes the same tree over the sums of the replicas. If each replica sums 2^k leaves, the
/// result has the bits of one tree over the leaves of all replicas.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"

namespace convoy {

/// The sum of the gradients of one replica's micro-batches in a step.
class GradientTree {
 public:
  /// `num_leaves` is the number of this replica's micro-batches in a step. `arena_count` is the number of floats of an
  /// arena of gradients.
  GradientTree(Device& device, ops::ElementwiseOps& elementwise, std::int64_t arena_count, std::int64_t num_leaves);

  /// Returns the arena in device memory into which the backward of this replica's micro-batch i writes its gradients.
  /// The micro-batches of a step must be computed in ascending order of i.
  float* leaf(std::int64_t i);
  /// Adds the floats [begin, end) of leaf i to the partial sums. Called once the backward work that writes them is
  /// issued.
  void merge(std::int64_t i, std::int64_t begin, std::int64_t end);
  /// Writes the sum of the floats [begin, end) over all leaves to sum(). Called after the last merge() of this range.
  void finish(std::int64_t begin, std::int64_t end);
  /// The arena in device memory to which finish() writes the sums.
  float* sum() const { return levels_.back().floats(); }

  /// Number of arenas that a tree over n = num_leaves leaves needs: floor(log2(n)) + 1.
  static std::int64_t num_levels(std::int64_t num_leaves);

 private:
  ops::ElementwiseOps& elementwise_;
  std::int64_t num_leaves_;
  std::vector<Buffer> levels_;
};

}  // namespace convoy
