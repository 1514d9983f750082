/// Sends each step's results from one stage of every replica to rank 0, without making a rank wait for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/comm/process_grid.h"

#include "step/rank_runtime.h"

namespace convoy {

/// A step has one item of fixed size for each of its micro-batches. All ranks of the grid call post() after every step.
/// Rank 0 collects the items one step later, when they have long arrived.
class StepChannel {
 public:
  /// The arguments of a StepChannel.
  struct Spec {
    std::int64_t item_bytes = 0;  ///< size of the item of one micro-batch
    int tag = 0;                  ///< MPI tag of the messages; no other channel may use it at the same time
    std::int64_t stage = 0;       ///< index of the stage that has the items
  };

  /// `runtime` must outlive the channel.
  StepChannel(const RankRuntime& runtime, const Spec& spec);
  StepChannel(const StepChannel&) = delete;
  StepChannel& operator=(const StepChannel&) = delete;

  /// Starts to send the items of the latest step. `items` are those of this replica's micro-batches on the stage
  /// spec.stage; not read on other stages. They are copied. At most one step that was posted before may be uncollected.
  void post(std::span<const std::byte> items);
  /// Called on rank 0: returns the items of all replicas for the oldest uncollected step, in the order of
  /// micro-batches. Waits until they have arrived. They are valid until the second step after that step is posted.
  std::span<const std::byte> collect();
  /// Waits until all posted messages are complete. Called before this object is destroyed.
  void finish();

 private:
  static constexpr std::int64_t kMaxSteps = 2;  ///< steps whose messages are in flight at the same time
  /// The messages of one step.
  struct StepMessages {
    std::vector<std::byte> sent, received;
    mpi::Request send;
    std::vector<mpi::Request> receives;
  };

  const RankRuntime& runtime_;
  Spec spec_;
  StepMessages steps_[kMaxSteps];
  std::int64_t posted_ = 0, collected_ = 0;
};

}  // namespace convoy
