/// Plans the phases of messages in which the replicas of a stage sum a bucket's gradients (a reduce-scatter): after
/// them each replica holds the sum of its own slice over all replicas. The sum is a binary tree over the replicas that
/// is split at the largest power of two below their number, as in GradientTree. The number of phases grows with the
/// logarithm of the number of replicas.
///
/// In a phase, groups of f replicas exchange messages directly. Each member holds sums of the same slices. It keeps one
/// f-th of them, sends each other member that member's part, and adds up the sums that it receives for its own part.
/// With f = 2 this is recursive halving (Thakur, Rabenseifner and Gropp 2005), here with the nearest partner first:
/// with 8 replicas
///     phase 0   0+1   2+3   4+5   6+7      each keeps half a bucket
///     phase 1   (0+1)+(2+3)  ...           each keeps a quarter
///     phase 2   ((0+1)+(2+3))+(...)        each keeps an eighth: its own slice
/// These are the sums of the tree from its leaves to its root. Two replicas that hold the two addends make each of
/// them. The partners of the first phases, which send the most bytes, are neighbours on a node.
///
/// Only factors of two of the number of replicas make further phases: with 1,000 = 8 x 125 replicas, groups of 125
/// exchange directly in the last phase, and each keeps a 125th of an eighth of a bucket. If the number of replicas is
/// odd, all exchange in one phase. The bits of the sum are those of the tree in every case.
///
/// Updated parameters are gathered by the same phases in the opposite order.
#pragma once

#include <cstdint>
#include <vector>

namespace convoy {

/// Neighbouring slices of a bucket: those with the numbers [first, first + count) of slice_at().
struct SliceRun {
  std::int64_t first = 0, count = 0;
};

/// A replica that takes part in a phase.
struct ExchangeMember {
  std::int64_t replica = 0;
  SliceRun keeps;  ///< the slices of a bucket whose sums over the phase's members this replica holds after the phase
};

/// A phase of messages, as one replica sees it.
struct TreePhase {
  /// In ascending order of `replica`; their sums are added in this order, as a binary tree.
  std::vector<ExchangeMember> members;
  std::int64_t me = 0;  ///< index of this replica in `members`
};

/// The largest number of replicas that direct_neighbours() lets exchange messages directly. With more, the messages of
/// a phase would be so small that the fixed cost of each is too high.
inline constexpr std::int64_t kMaxNeighbours = 8;

/// Returns how many replicas of a stage should exchange messages directly in the first phase: those on the same node,
/// but at most kMaxNeighbours. If every replica has its own node, no order of phases can keep messages inside a node;
/// then it is kMaxNeighbours, which gives the fewest phases.
std::int64_t direct_neighbours(std::int64_t replicas_on_a_node);

/// Returns the number of replicas that exchange messages directly, for each phase from the first on. The product of
/// these numbers is the number of replicas. If there are at most `neighbours` replicas, all exchange in one phase.
/// Otherwise the first phase has the largest power of two that is at most `neighbours` and divides the number of
/// replicas; then come phases of two, and at last one phase of the odd factor. Phases of one replica are left out.
/// `neighbours` is at least 1.
std::vector<std::int64_t> phase_sizes(std::int64_t num_replicas, std::int64_t neighbours);

/// Returns the phases of replica number `replica`, in order; empty if there is only one replica. `neighbours` is as for
/// phase_sizes().
std::vector<TreePhase> tree_phases(std::int64_t replica, std::int64_t num_replicas, std::int64_t neighbours);

}  // namespace convoy
