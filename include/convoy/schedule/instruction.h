/// A step as a program: the instructions of one stage, in order. The same list is executed, simulated, drawn and
/// tested.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

/// The kinds of instructions. In the notes m is a micro-batch; square brackets mean "optional".
enum class Op {
  kLoad,            ///< m: read the data of m's samples that the chunk's cells, or the loss, need
  kRecvActivation,  ///< m: receive its activation from the previous virtual stage
  kForward,         ///< m: forward pass through the chunk
  kSendActivation,  ///< m: send its activation to the next virtual stage
  kLoss,            ///< m: loss, and in training its gradient; on the last virtual stage only
  kRecvGradient,    ///< m: receive its gradient from the next virtual stage
  kBackward,        ///< m, [bucket]: data gradient and weight gradient, layer by layer while dy is in the cache
  kBackwardInput,   ///< m: the data gradient alone; it leaves in m's frame what BackwardWeight needs
  kBackwardWeight,  ///< m, [bucket]: the weight gradient alone, from m's frame only, at any time after BackwardInput
  kSendGradient,    ///< m: send its gradient to the previous virtual stage
  kReduceBucket,    ///< bucket: start to exchange its gradients, complete on this rank, between replicas
  kFoldBucket,      ///< bucket: wait for the last sums of the own slice and add them: its gradient is complete
  kAgreeOnUpdate,   ///< all ranks agree whether a loss or a gradient is bad (then the step's updates and gathers are
                    ///< skipped), and on the norms of whole tensors, or of all tensors, that updates need
  kUpdateBucket,    ///< bucket: update the slice that this replica owns, and start the gather
  kGatherBucket,    ///< bucket: wait for the updated slices of all replicas
};

/// The value of Instruction::bucket for an instruction that covers all cells of its chunk.
inline constexpr std::int64_t kAllBuckets = -1;

/// One entry of a stage's list. `micro_batch` counts within the replica's step, from 0.
/// A stage has one run of cells (a chunk) or, in the interleaved schedule, several: chunk c of stage s of p is virtual
/// stage c * p + s. Buckets are numbered within their chunk.
/// kBackward and kBackwardWeight cover all cells of the chunk (bucket = kAllBuckets) or, for the last micro-batch of a
/// step, the cells of one bucket, so that a bucket's reduction can start while earlier cells still run.
/// Recomputing of activations is part of the backward, cell by cell.
struct Instruction {
  Op op = Op::kForward;
  std::int64_t micro_batch = -1;
  std::int64_t bucket = kAllBuckets;
  std::int64_t chunk = 0;

  bool operator==(const Instruction&) const = default;
};

/// The instruction list of a stage.
using StageProgram = std::vector<Instruction>;

/// Returns "Forward 3", "Forward 3 chunk 1", "Backward 7 bucket 2" or "ReduceBucket 0 chunk 1". Chunk 0 is not named.
std::string to_string(const Instruction& instruction);

/// Returns whether the instruction is the backward of a micro-batch, or a part of it.
inline bool is_backward(Op op) {
  return op == Op::kBackward || op == Op::kBackwardInput || op == Op::kBackwardWeight;
}

/// Returns whether the instruction exchanges gradients or parameters between replicas, or updates parameters.
inline bool is_of_update(Op op) {
  return op == Op::kReduceBucket || op == Op::kFoldBucket || op == Op::kAgreeOnUpdate || op == Op::kUpdateBucket ||
         op == Op::kGatherBucket;
}

}  // namespace convoy
