/// Describes a step as a program: the instructions of one stage, in order. The same list is executed, simulated, drawn
/// and tested.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

/// The kinds of instructions. A virtual stage is a chunk of cells on one stage. A bucket is a group of cells of a chunk
/// whose gradients are exchanged between replicas together.
enum class Op {
  kLoad,            ///< reads those features of the micro-batch's samples that the chunk's cells, or the loss, need
  kRecvActivation,  ///< receives the micro-batch's activation from the previous virtual stage
  kForward,         ///< forward pass of the micro-batch through the chunk
  kSendActivation,  ///< sends the micro-batch's activation to the next virtual stage
  kLoss,  ///< computes the loss of the micro-batch, and in training its gradient; only on the last virtual stage
  kRecvGradient,  ///< receives the micro-batch's gradient from the next virtual stage
  /// Computes data gradient and weight gradient of all cells or of one bucket, layer by layer while dy is in the cache.
  kBackward,
  kBackwardInput,  ///< computes the data gradient alone; stores in the micro-batch's frame what kBackwardWeight needs
  /// Computes the weight gradient of all cells or of one bucket, from the micro-batch's frame, after kBackwardInput.
  kBackwardWeight,
  kSendGradient,  ///< sends the micro-batch's gradient to the previous virtual stage
  kReduceBucket,  ///< starts the exchange between replicas of a bucket's gradients, which are complete on this rank
  /// Waits for the last partial sums of the bucket's own slice and adds them: the slice's gradient is complete.
  kFoldBucket,
  /// Lets all ranks agree whether a gradient is not finite, or a loss is not finite or too large (the step's updates
  /// and gathers are then skipped), and on the norms of tensors that updates need.
  kAgreeOnUpdate,
  kUpdateBucket,  ///< updates the slice of the bucket that this replica owns, and starts the exchange of updated slices
  kGatherBucket,  ///< waits for the bucket's updated slices from all replicas
};

/// The value of Instruction::bucket for an instruction that covers all cells of its chunk.
inline constexpr std::int64_t kAllBuckets = -1;

/// One instruction of a stage's list. `micro_batch` counts within the replica's step, from 0.
/// A stage has one run of cells (a chunk) or, in the interleaved schedule, several: chunk c of stage s of p is virtual
/// stage c * p + s. Buckets are numbered within their chunk.
/// kBackward and kBackwardWeight cover all cells of the chunk (bucket = kAllBuckets) or, for the last micro-batch of a
/// step, the cells of one bucket, so that the exchange of the bucket's gradients can start while earlier cells still
/// run. Recomputing of activations is part of the backward, cell by cell.
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
