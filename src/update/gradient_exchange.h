/// The messages between the replicas of a stage in a training step: the reduce-scatter of each bucket's gradients,
/// after which each replica holds the sum of its own slice, and the all-gather of the updated parameters. The parameter
/// run.reduction chooses how gradients are summed:
///
/// - invariant: sums are exchanged and added in phases (exchange_phases.h), as the upper levels of the gradient tree.
///   The bits do not depend on the number of replicas.
/// - fast: the transport's reduce-scatter adds up slices of equal size in an order that MPI or NCCL chooses. The last
///   slice may end beyond the bucket.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "convoy/comm/transport.h"
#include "convoy/device/device.h"
#include "convoy/model/arena_layout.h"
#include "convoy/ops/elementwise.h"
#include "convoy/params/choices.h"

#include "update/exchange_phases.h"

namespace convoy {

/// The arguments of GradientExchange; what they refer to must outlive it.
struct GradientExchangeSpec {
  const ArenaLayout& layout;
  const mpi::Communicator& data;  ///< the replicas of this stage
  ReductionKind reduction = ReductionKind::kInvariant;
  /// Number of replicas that exchange messages directly in the first phase; does not change the sums.
  std::int64_t neighbours = kMaxNeighbours;
  /// This replica's gradients, summed over its micro-batches: an arena in device memory, which is longer by
  /// slack_of_slices() floats if `reduction` is fast.
  float* local_sum = nullptr;
  float* parameters = nullptr;  ///< the float32 parameters: an arena in device memory
};

/// Exchanges gradients and parameters between the replicas of a stage, bucket by bucket. A bucket is the range of an
/// arena whose messages travel together; it is cut into one slice per replica, which only that replica sums and
/// updates.
class GradientExchange {
 public:
  /// All replicas of the stage call it. `elementwise` and `transport` must outlive this object.
  GradientExchange(const GradientExchangeSpec& spec, Device& device, ops::ElementwiseOps& elementwise,
                   Transport& transport);
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  /// Starts the reduce-scatter of a bucket's gradients. local_sum must be complete in the bucket's range. The caller
  /// must not touch that range until start_gather().
  void start_reduce(std::int64_t bucket);
  /// Waits for the messages of start_reduce().
  void await_reduce(std::int64_t bucket) { wait_for(buckets_[bucket].reduce.get()); }
  /// Issues the last sums of the reduce-scatter: this replica's slice then holds the gradient summed over all replicas.
  /// Called after await_reduce().
  void fold(std::int64_t bucket);
  /// This replica's slice of the bucket's summed gradient, in device memory; valid after fold().
  float* reduced(std::int64_t bucket) const { return buckets_[bucket].reduced; }

  /// Starts the all-gather of a bucket's parameters: sends this replica's slice to all other replicas, and receives
  /// theirs.
  void start_gather(std::int64_t bucket);
  /// Waits for the messages of start_gather().
  void await_gather(std::int64_t bucket) { wait_for(buckets_[bucket].gather.get()); }

  /// Time in seconds that await_reduce() and await_gather() have waited in all.
  double wait_seconds() const { return wait_seconds_; }

 private:
  /// The slice that this replica owns of a bucket, and the bucket's messages.
  struct BucketState {
    Slice own;  ///< this replica's slice
    /// Addends of the own slice in the last phase, in the order of the tree: this replica's sum and the received ones.
    std::vector<float*> blocks;
    /// The own slice of the summed gradient: in local_sum, or a receive buffer if `reduction` is fast.
    float* reduced = nullptr;
    std::unique_ptr<Message> reduce, gather;  ///< null if there is only one replica
  };
  /// Floats of a bucket, in local_sum or in a receive buffer.
  struct Values {
    float* data = nullptr;
    Slice range;  ///< the range of the arena to which they belong

    float* at(const Slice& part) const { return data + part.begin - range.begin; }
  };

  Slice slices(std::int64_t bucket, const SliceRun& run) const;
  std::int64_t received_count(std::int64_t bucket) const;
  void create_reduce(std::int64_t bucket, float* received);
  void create_fast_reduce(std::int64_t bucket, float* received);
  ExchangePhase create_phase(std::int64_t bucket, const TreePhase& phase, const Values& held, float* received);
  void create_gather(std::int64_t bucket);
  MessageSpec message_with(const ExchangeMember& other, float* data, const Slice& range, int tag) const;
  void wait_for(Message* message);

  GradientExchangeSpec spec_;
  ops::ElementwiseOps& elementwise_;
  Transport& transport_;
  mpi::Communicator owners_;  ///< the replicas of this stage; the rank is the number of the slice that a replica owns
  std::vector<TreePhase> phases_;
  Buffer received_;  ///< receive buffers: other replicas' sums of the slices that this one keeps
  std::vector<BucketState> buckets_;
  double wait_seconds_ = 0;
};

}  // namespace convoy
