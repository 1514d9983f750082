/// A step as a program: what one stage does, in order. The same list is executed, simulated, drawn and tested.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

enum class Op {
  kLoad,            ///< m: what the chunk's cells, or the loss, read of micro-batch m's samples
  kRecvActivation,  ///< m: from the virtual stage before
  kForward,         ///< m
  kSendActivation,  ///< m: to the next virtual stage
  kLoss,            ///< m: loss, and its gradient when training; last virtual stage
  kRecvGradient,    ///< m: from the next virtual stage
  kBackward,        ///< m, [bucket]: data gradient and weight gradient, layer by layer while dy is in the cache
  kBackwardInput,   ///< m: the data gradient. Leaves in m's frame what BackwardWeight needs
  kBackwardWeight,  ///< m, [bucket]: the weight gradient, only from m's frame, some time after BackwardInput
  kSendGradient,    ///< m: to the virtual stage before
  kReduceBucket,    ///< bucket: its gradients are complete here; start their exchange between replicas
  kFoldBucket,      ///< bucket: wait for the last sums of the own slice and fold them: its gradient is complete
  kAgreeOnUpdate,   ///< all ranks: whether a loss or a gradient is bad (then this step's updates and gathers are
                    ///< skipped), and the norms that updates need of whole tensors, or of all of them
  kUpdateBucket,    ///< bucket: update the slice this replica owns, start the gather
  kGatherBucket,    ///< bucket: wait for everyone's updated slices
};

inline constexpr std::int64_t kAllBuckets = -1;

/// One entry of a stage's list. `micro_batch` counts within the replica's step, from 0.
/// A stage has one run of cells or, interleaved, several: chunk c of stage s of p is virtual stage c * p + s. Buckets
/// are numbered within their chunk.
/// kBackward and kBackwardWeight cover all cells of the chunk (bucket = kAllBuckets) or, for the last micro-batch of a
/// step, the cells of one bucket, so that a bucket's reduction can start while earlier cells still run.
/// Where activations are recomputed, that is part of the backward, cell by cell.
struct Instruction {
  Op op = Op::kForward;
  std::int64_t micro_batch = -1;
  std::int64_t bucket = kAllBuckets;
  std::int64_t chunk = 0;

  bool operator==(const Instruction&) const = default;
};

/// A stage's list.
using StageProgram = std::vector<Instruction>;

/// "Forward 3", "Forward 3 chunk 1", "Backward 7 bucket 2", "ReduceBucket 0 chunk 1": chunk 0 is not named.
std::string to_string(const Instruction& instruction);

/// Whether it is the backward of a micro-batch, or a part of it.
inline bool is_backward(Op op) {
  return op == Op::kBackward || op == Op::kBackwardInput || op == Op::kBackwardWeight;
}

/// Whether it exchanges gradients between replicas, or updates parameters from them.
inline bool is_of_update(Op op) {
  return op == Op::kReduceBucket || op == Op::kFoldBucket || op == Op::kAgreeOnUpdate || op == Op::kUpdateBucket ||
         op == Op::kGatherBucket;
}

}  // namespace convoy
