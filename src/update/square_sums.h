/// Sums of squares over whole tensors, with the same bits on any grid, although each replica holds slices of them.
///
///   leaf    16 neighbours of a tensor   no slice cuts it: slices begin at multiples of 16
///   block   32 leaves                   summed by the replica that holds all of it; if a slice cuts it, each holder
///                                       sums its leaves, and every replica the block from these
///   tensor  its blocks                  in index order, by every replica, from what all have sent
///
/// Leaves and blocks are counted from the tensor's first value, and all sums are doubles (ElementwiseOps::sum_squares).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "convoy/comm/transport.h"
#include "convoy/device/device.h"
#include "convoy/model/arena_layout.h"
#include "convoy/ops/elementwise.h"

namespace convoy {

class SquareSums {
 public:
  /// Plans the sums of all trained parameters of `layout`, for `num_kinds` kinds of values: gradients, weights.
  SquareSums(const ArenaLayout& layout, const mpi::Communicator& data, std::int64_t num_kinds, Device& device,
             ops::ElementwiseOps& elementwise);

  /// Issues the sums of this replica's slice of a bucket, whose first value is values[0].
  void start(std::int64_t bucket, std::int64_t kind, const float* values);
  /// Exchanges what all replicas of the stage have summed. Called after the device's work.
  void exchange(Transport& transport);
  /// The sum of the entry's tensor; 0 for statistics and for frozen parameters.
  double of(std::int64_t entry, std::int64_t kind) const { return sums_[kind][entry]; }
  /// The sums of all entries, in arena order.
  const std::vector<double>& of_all(std::int64_t kind) const { return sums_[kind]; }

 private:
  static constexpr std::int64_t kWhole = -1;
  using Leaves = std::array<double, ops::kSumLeaves>;

  /// The destination of a piece's sum.
  struct Target {
    std::int64_t block = 0;      ///< number among all blocks of the layout
    std::int64_t leaf = kWhole;  ///< number in a block that is cut; kWhole: the block is not cut
    std::int64_t cut_block = 0;  ///< if it is cut: number among those that are
  };
  struct CutBlock {
    std::int64_t block = 0;
    Leaves leaves = {};
  };
  /// Blocks [begin, end) of a tensor.
  struct BlockRange {
    std::int64_t begin = 0, end = 0;
  };

  void plan_blocks(const ArenaLayout& layout);
  void plan_slice(const ArenaLayout& layout, const Slice& slice, std::vector<ops::SumPiece>& pieces);
  Target leaf_of(std::int64_t block, std::int64_t leaf);
  void add_up(std::int64_t kind);

  ops::ElementwiseOps& elementwise_;
  const mpi::Communicator& data_;
  std::vector<BlockRange> blocks_of_;       ///< by entry; empty for statistics
  std::vector<Target> targets_;             ///< by piece: of all replicas, one after the other
  std::vector<std::int64_t> first_target_;  ///< by replica; one more: their number
  std::vector<std::int64_t> first_piece_;   ///< by bucket, of this replica; one more: their number
  std::vector<int> counts_, offsets_;       ///< doubles that each replica sends
  Buffer pieces_;                           ///< SumPiece: of this replica's slices
  HostBuffer mine_;                         ///< this replica's sums, kind after kind
  std::vector<double> all_;                 ///< what was exchanged
  std::vector<double> block_sums_;
  std::vector<CutBlock> cut_blocks_;
  std::unordered_map<std::int64_t, std::int64_t> cut_block_of_;  ///< by block
  std::vector<std::vector<double>> sums_;                        ///< by kind and entry
};

}  // namespace convoy
