/// Values of the training's state that only one rank keeps: its slices of the parameters (running statistics are among
/// them), of the optimizer's slots and of the moving average.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "convoy/model/arena_layout.h"

#include "step/rank_runtime.h"

namespace convoy {

class OwnedValues {
 public:
  /// `runtime` outlives the object.
  explicit OwnedValues(const RankRuntime& runtime);

  /// Returns the kinds of values, as a checkpoint groups them: "model", "optimizer/momentum", "ema". The first is the
  /// model.
  const std::vector<std::string>& groups() const { return groups_; }
  std::int64_t num_groups() const { return std::ssize(groups_); }
  /// Whether the group also has values of running statistics.
  bool has_statistics(std::int64_t group) const;
  const Shard& shard() const { return shard_; }
  /// Copies all values to the host, each bucket's slice to `to`, and waits until the copies are complete.
  void copy(const std::function<float*(std::int64_t group, std::size_t bucket)>& to) const;

 private:
  const RankRuntime& runtime_;
  std::vector<std::string> groups_;
  Shard shard_;
};

/// Returns the shard of any rank.
Shard shard_of_rank(const RankRuntime& runtime, std::int64_t replica, std::int64_t stage);

}  // namespace convoy
