/// Sums of the squares of whole tensors, for their norms. They have the same bits on any grid, although each replica
/// holds only slices of a tensor.
///
///   leaf    16 neighbouring values of a tensor. No slice boundary cuts it: slices begin at multiples of 16.
///   block   32 leaves. The replica that holds all of it sums it. If a slice boundary cuts it, each holder sums its
///           leaves, and every replica adds these up.
///   tensor  its blocks. Every replica adds up their sums, which all have sent, in index order.
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

/// Computes the sums of squares of a stage's tensors, of which each replica holds slices.
class SquareSums {
 public:
  /// Plans the sums of all trained parameters of `layout`, for `num_kinds` kinds of values, such as gradients and
  /// weights. `data` is the group of the stage's replicas. `data` and `elementwise` must outlive this object.
  SquareSums(const ArenaLayout& layout, const mpi::Communicator& data, std::int64_t num_kinds, Device& device,
             ops::ElementwiseOps& elementwise);

  /// Issues the device work that sums the squares of this replica's slice of a bucket. values[0], in device memory, is
  /// the first value of the slice. `kind` is the index of the kind of values.
  void start(std::int64_t bucket, std::int64_t kind, const float* values);
  /// Exchanges the sums of all replicas of the stage and adds them up. All replicas of the stage call it, when the
  /// device has done the work that start() issued. Waits for the other replicas.
  void exchange(Transport& transport);
  /// The sum of the squares of the tensor at index `entry` of ArenaLayout::entries, after exchange(); 0 for running
  /// statistics and for frozen parameters.
  double of(std::int64_t entry, std::int64_t kind) const { return sums_[kind][entry]; }
  /// The sums of all entries of the layout, in its order.
  const std::vector<double>& of_all(std::int64_t kind) const { return sums_[kind]; }

 private:
  /// The value of Target::leaf for a whole block.
  static constexpr std::int64_t kWhole = -1;
  using Leaves = std::array<double, ops::kSumLeaves>;

  /// Which part of a tensor a piece (ops::SumPiece) is: a whole block, or one leaf of a block that a slice boundary
  /// cuts.
  struct Target {
    std::int64_t block = 0;      ///< index among the blocks of all tensors of the layout
    std::int64_t leaf = kWhole;  ///< index of the leaf in its block; kWhole: the piece is a whole block
    std::int64_t cut_block = 0;  ///< index in cut_blocks_, if the block is cut
  };
  /// A block that a slice boundary cuts, and the sums of its leaves.
  struct CutBlock {
    std::int64_t block = 0;
    Leaves leaves = {};
  };
  /// The blocks [begin, end) of the layout, which belong to one tensor.
  struct BlockRange {
    std::int64_t begin = 0, end = 0;
  };

  void plan_blocks(const ArenaLayout& layout);
  void plan_slice(const ArenaLayout& layout, const Slice& slice, std::vector<ops::SumPiece>& pieces);
  Target leaf_of(std::int64_t block, std::int64_t leaf);
  void add_up(std::int64_t kind);

  ops::ElementwiseOps& elementwise_;
  const mpi::Communicator& data_;
  std::vector<BlockRange> blocks_of_;  ///< by entry of the layout; empty for statistics and frozen parameters
  std::vector<Target> targets_;        ///< of the pieces of all replicas, replica after replica
  /// By replica: index in targets_; the last element is the number of targets.
  std::vector<std::int64_t> first_target_;
  std::vector<std::int64_t> first_piece_;  ///< by bucket: index in pieces_; the last element is the number of pieces
  std::vector<int> counts_, offsets_;      ///< by replica: number of doubles that it sends, and their offset in all_
  Buffer pieces_;                          ///< ops::SumPiece: this replica's pieces, in device memory
  HostBuffer mine_;                        ///< double: the sums of this replica's pieces, kind after kind
  std::vector<double> all_;                ///< the sums of the pieces of all replicas, replica after replica
  std::vector<double> block_sums_;
  std::vector<CutBlock> cut_blocks_;
  /// From the index of a block to its index in cut_blocks_.
  std::unordered_map<std::int64_t, std::int64_t> cut_block_of_;
  std::vector<std::vector<double>> sums_;  ///< by kind, then by entry of the layout
};

}  // namespace convoy
