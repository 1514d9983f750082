/// Sends each step's results from one stage of every replica to rank 0, without a rank waiting for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/comm/process_grid.h"

#include "step/rank_runtime.h"

namespace convoy {

/// All ranks post every step; rank 0 collects a step's items one step later, when they have long arrived.
class StepChannel {
 public:
  struct Spec {
    std::int64_t item_bytes = 0;  ///< size of the item of one micro-batch
    int tag = 0;
    std::int64_t stage = 0;  ///< the stage that has the items
  };

  StepChannel(const RankRuntime& runtime, const Spec& spec);
  StepChannel(const StepChannel&) = delete;
  StepChannel& operator=(const StepChannel&) = delete;

  /// Starts the transfer of the latest step's items: those of this replica's micro-batches on spec.stage, nothing on
  /// the other stages. They are copied. At most one step that was posted before may be uncollected.
  void post(std::span<const std::byte> items);
  /// Rank 0: returns all items of the oldest uncollected step, in the order of its micro-batches. Waits until they have
  /// arrived. They are valid until the second step after theirs is posted.
  std::span<const std::byte> collect();
  /// Waits until all posted messages have left. Called before the end.
  void finish();

 private:
  static constexpr std::int64_t kSlots = 2;
  struct Slot {
    std::vector<std::byte> sent, received;
    mpi::Request send;
    std::vector<mpi::Request> receives;
  };

  const RankRuntime& runtime_;
  Spec spec_;
  Slot slots_[kSlots];
  std::int64_t posted_ = 0, collected_ = 0;
};

}  // namespace convoy
