/// The update of a step: replica d of a stage ends up with slice d of each bucket's gradient, updates that slice with
/// the optimizer state that it alone keeps (ZeRO stage 1, Rajbhandari et al. 2020), and all gather the new parameters.
///
/// invariant: slices are exchanged (each replica sends slice d of its sum to replica d) and folded in replica order,
/// the
///            upper levels of the gradient tree: the bits do not depend on the number of replicas
/// fast:      MPI_Ireduce_scatter sums in an order of its own
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/device/device.h"
#include "convoy/model/arena_layout.h"
#include "convoy/ops/elementwise.h"
#include "convoy/params/parameters.h"

#include "train/optimizer.h"

namespace convoy {

struct ShardedUpdateSpec {
  const ArenaLayout& layout;
  const mpi::Communicator& data;  ///< the replicas of this stage
  ReductionKind reduction = ReductionKind::kInvariant;
  /// Running statistics: new = keep * old + (1 - keep) * mean over the step's micro-batches.
  float statistics_keep = 0.9f;
  std::int64_t micro_batches_a_step = 1;  ///< over all replicas
};

class ShardedUpdate {
 public:
  ShardedUpdate(const ShardedUpdateSpec& spec, Device& device, ops::ElementwiseOps& elementwise, Optimizer& optimizer,
                float* parameters);

  /// Starts the exchange of a bucket; `local_sum` is an arena, complete in the bucket's range, and stays untouched (but
  /// by this object) until update().
  void start_reduce(std::int64_t bucket, float* local_sum);
  /// Waits for the slices, folds, updates this replica's slice, starts the gather.
  void update(std::int64_t bucket);
  /// Waits for the bucket's new parameters.
  void finish_gather(std::int64_t bucket);

  /// Makes progress on what is under way; false where nothing is. Cheap, called between cells.
  bool poke();
  /// Seconds in which update() and finish_gather() waited for messages.
  double wait_seconds() const { return wait_seconds_; }

  /// This replica's optimizer state: for each slot the slices of all buckets, one after the other.
  std::int64_t shard_count() const { return shard_count_; }
  std::vector<float*> slots() const;

 private:
  /// Neighbouring values that are updated alike.
  struct Run {
    std::int64_t begin = 0, end = 0;
    bool statistic = false;
  };
  struct BucketState {
    Slice own;
    std::int64_t shard_offset = 0;  ///< of own.begin in the shard
    std::vector<Run> runs;          ///< own slice
    std::vector<Slice> slices;      ///< by replica
    std::vector<float*> blocks;     ///< own slice of every replica's sum, by replica; blocks[me] is in the local sum
    std::vector<int> counts;        ///< of the slices, for MPI: it reads them until the sum is there
    std::vector<mpi::Request> sends, receives;
    float* local_sum = nullptr;
    float* reduced = nullptr;
  };

  void find_runs(BucketState& state) const;
  void wait_for(std::vector<mpi::Request>& requests);
  void update_slice(const BucketState& state);

  ShardedUpdateSpec spec_;
  ops::ElementwiseOps& elementwise_;
  Optimizer& optimizer_;
  float* parameters_;
  Buffer received_;  ///< other replicas' slices of this replica's part
  std::vector<Buffer> state_;
  std::vector<BucketState> buckets_;
  std::vector<float*> state_pointers_;
  std::int64_t shard_count_ = 0;
  std::int64_t num_in_flight_ = 0;  ///< buckets between start_reduce and the end of finish_gather
  double wait_seconds_ = 0;
};

}  // namespace convoy
