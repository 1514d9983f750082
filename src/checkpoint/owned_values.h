/// The values of the training state that only this rank keeps: its slices of the parameters (including running
/// statistics), of the optimizer's slots and of the moving average.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoy/model/arena_layout.h"

#include "step/training_step.h"

namespace convoy {

/// Lists the values that a snapshot copies from this rank, and copies them.
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

/// Returns the shard of the rank at (replica, stage).
Shard shard_of_rank(const RankRuntime& runtime, std::int64_t replica, std::int64_t stage);

}  // namespace convoy
