/// All messages between the replicas of a stage in a step: they bring a bucket's gradients together, each replica's own
/// slice at that replica, and spread the new parameters.
///
/// invariant: sums are exchanged and folded in rounds (exchange_rounds.h), as the upper levels of the gradient tree, so
///            that the bits do not depend on the number of replicas
/// fast:      the transport's reduce-scatter adds up slices of equal size in an order that the library chooses; the
///            last of them may reach beyond the bucket
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "convoy/comm/transport.h"
#include "convoy/device/device.h"
#include "convoy/model/arena_layout.h"
#include "convoy/ops/elementwise.h"
#include "convoy/params/choices.h"

#include "update/exchange_rounds.h"

namespace convoy {

struct GradientExchangeSpec {
  const ArenaLayout& layout;
  const mpi::Communicator& data;  ///< the replicas of this stage
  ReductionKind reduction = ReductionKind::kInvariant;
  std::int64_t neighbours = kMaxNeighbours;  ///< replicas that exchange directly; changes no bit
  float* local_sum = nullptr;                ///< an arena: this replica's gradients; if fast, with slack_of_slices()
  float* parameters = nullptr;               ///< an arena
};

class GradientExchange {
 public:
  /// All replicas of the stage call it. The elementwise operations and the transport must outlive it.
  GradientExchange(const GradientExchangeSpec& spec, Device& device, ops::ElementwiseOps& elementwise,
                   Transport& transport);
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  /// Starts the exchange of a bucket. The local sum is complete in the bucket's range, and belongs to this object until
  /// the bucket's gather.
  void start_reduce(std::int64_t bucket);
  void await_reduce(std::int64_t bucket) { wait_for(buckets_[bucket].reduce.get()); }
  /// Adds up what await_reduce() has brought: then this replica's slice of the gradient is complete.
  void fold(std::int64_t bucket);
  /// This replica's slice of the summed gradient; valid after fold().
  float* reduced(std::int64_t bucket) const { return buckets_[bucket].reduced; }

  /// Starts to send this replica's slice of the parameters to all others, and to receive theirs.
  void start_gather(std::int64_t bucket);
  void await_gather(std::int64_t bucket) { wait_for(buckets_[bucket].gather.get()); }

  /// Time in seconds that this replica has waited for messages.
  double wait_seconds() const { return wait_seconds_; }

 private:
  struct BucketState {
    Slice own;
    std::vector<float*> blocks;  ///< the sums of the own slice that the last round brings together, in order
    float* reduced = nullptr;    ///< destination of their sum: the first of them, or what `fast` has set
    std::unique_ptr<Message> reduce, gather;  ///< null if there is only one replica
  };
  /// Values of a bucket, in the arena or received.
  struct Values {
    float* data = nullptr;
    Slice range;  ///< range in the arena

    float* at(const Slice& part) const { return data + part.begin - range.begin; }
  };

  Slice slices(std::int64_t bucket, const SliceRun& run) const;
  std::int64_t received_count(std::int64_t bucket) const;
  void create_reduce(std::int64_t bucket, float* received);
  void create_fast_reduce(std::int64_t bucket, float* received);
  ExchangeRound create_round(std::int64_t bucket, const TreeRound& round, const Values& held, float* received);
  void create_gather(std::int64_t bucket);
  MessageSpec message_with(const ExchangeMember& other, float* data, const Slice& range, int tag) const;
  void wait_for(Message* message);

  GradientExchangeSpec spec_;
  ops::ElementwiseOps& elementwise_;
  Transport& transport_;
  mpi::Communicator owners_;  ///< the replicas, by the slice that each owns
  std::vector<TreeRound> rounds_;
  Buffer received_;  ///< other replicas' sums of what this one keeps
  std::vector<BucketState> buckets_;
  double wait_seconds_ = 0;
};

}  // namespace convoy
