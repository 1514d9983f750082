/// Which replicas exchange what, and when, so that each ends up with the sum of its own slice over all replicas: the
/// tree that is split at the largest power of two below their number (GradientTree), in rounds whose number grows with
/// its logarithm.
///
/// In a round f replicas exchange directly: each keeps one part in f of the slices that it holds sums of, sends each of
/// the others its part, and adds up what it gets of its own part. With f = 2 this is recursive halving (Thakur,
/// Rabenseifner and Gropp 2005), here with the nearest partner first: with 8 replicas
///     round 0   0+1   2+3   4+5   6+7      half a bucket each
///     round 1   (0+1)+(2+3)  ...           a quarter
///     round 2   ((0+1)+(2+3))+(...)        an eighth: the own slice
/// These are the sums of the tree from its leaves to its root, each made by two replicas that have the two addends.
/// Partners of the first rounds, which send most, are neighbours on a node.
///
/// Only factors of two make more rounds: with 1,000 = 8 x 125 replicas, 125 exchange directly in the last one, each
/// with a 125th of an eighth of a bucket; with an odd number of replicas all exchange in one round. The bits are those
/// of the tree in every case.
///
/// Parameters are gathered by the same rounds in the opposite order.
#pragma once

#include <cstdint>
#include <vector>

namespace convoy {

/// Slices [first, first + count) of a bucket, as slice_at() counts them.
struct SliceRun {
  std::int64_t first = 0, count = 0;
};

struct ExchangeMember {
  std::int64_t replica = 0;
  SliceRun keeps;  ///< slices of a bucket whose sums over the round's members it keeps
};

struct TreeRound {
  std::vector<ExchangeMember> members;  ///< ascending: the order in which their sums are added, as a tree
  std::int64_t me = 0;                  ///< the index of this replica among them
};

/// Largest number of replicas that exchange directly: more make a round's messages too small for what each costs.
inline constexpr std::int64_t kMaxNeighbours = 8;

/// Returns how many replicas of a stage exchange directly: those on a node, but at most kMaxNeighbours. If each has a
/// node for itself, no order of messages keeps bytes on a node, and kMaxNeighbours gives the fewest rounds.
std::int64_t direct_neighbours(std::int64_t replicas_on_a_node);

/// Returns how many replicas exchange directly in each round, from the first; the product is the number of replicas. If
/// there are at most `neighbours` replicas, all exchange in one round. Otherwise the first round has the largest power
/// of two that is at most `neighbours` and divides the number of replicas; then come rounds of two, and at last one of
/// the odd factor. Rounds of one are left out. `neighbours` is at least 1.
std::vector<std::int64_t> round_sizes(std::int64_t num_replicas, std::int64_t neighbours);

/// Returns the rounds in which replica `replica` takes part; none if it is alone.
std::vector<TreeRound> tree_rounds(std::int64_t replica, std::int64_t num_replicas, std::int64_t neighbours);

}  // namespace convoy
