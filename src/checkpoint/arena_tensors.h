/// Converts the arenas of stages, and the slices of them that a rank owns, to the tensors of a file, in which the cut
/// of the network into stages is not visible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "convoy/io/checkpoint.h"
#include "convoy/model/arena_layout.h"
#include "convoy/model/network.h"

#include "step/training_step.h"

namespace convoy {

/// Appends the parameters of an arena in host memory to `tensors`, in file order. Running statistics are appended only
/// if `with_statistics` is set.
void append_tensors(const ArenaLayout& layout, std::span<const float> arena, bool with_statistics,
                    std::vector<io::NamedTensor>& tensors);

/// A range of a tensor's values that lies in a shard.
struct ShardPiece {
  const ArenaEntry* entry = nullptr;  ///< the tensor, in the layout that was given to pieces_of()
  std::int64_t first = 0, count = 0;  ///< the range in the tensor, in device order
  std::int64_t offset = 0;            ///< index of its first value in the shard
};

/// Returns the pieces of all tensors in a shard, slice after slice. `layout` must outlive the result.
std::vector<ShardPiece> pieces_of(const ArenaLayout& layout, const Shard& shard);

/// Returns the shard of the rank at (replica, stage).
Shard shard_of_rank(const RankRuntime& runtime, std::int64_t replica, std::int64_t stage);

/// The values of the training state that only this rank keeps, and that a snapshot copies: its slices of the parameters
/// (including running statistics), of the optimizer states and of the moving average.
class OwnedValues {
 public:
  /// `training` must outlive this object.
  explicit OwnedValues(const TrainingStep& training);

  /// The groups of values, named as in a checkpoint: "model", "optimizer/momentum", "ema". The model is always the
  /// first.
  const std::vector<std::string>& groups() const { return groups_; }
  std::int64_t num_groups() const { return std::ssize(groups_); }
  /// Whether the group includes running statistics.
  bool has_statistics(std::int64_t group) const;
  /// The slices of this rank, which are the same in each group.
  const Shard& shard() const { return shard_; }
  /// Copies all values to host memory and waits for it. `to` returns the destination of a group's slice of a bucket.
  void copy(const std::function<float*(std::int64_t group, std::size_t bucket)>& to) const;

 private:
  const TrainingStep& training_;
  std::vector<std::string> groups_;
  Shard shard_;
};

/// Sorts the tensors of each part of the checkpoint (model, moving average, each optimizer state) into the network's
/// order.
void sort_as_network(const Network& network, io::Checkpoint& checkpoint);

}  // namespace convoy
