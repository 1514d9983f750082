/// A step as a program: what one stage does, in order. The same list is executed, simulated, drawn and tested.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

enum class Op {
  kLoadInput,       ///< m: images of micro-batch m, first stage
  kRecvActivation,  ///< m: from the stage before
  kForward,         ///< m
  kSendActivation,  ///< m: to the stage behind
  kLoadLabels,      ///< m: last stage
  kLoss,            ///< m: loss, and its gradient when training; last stage
  kRecvGradient,    ///< m: from the stage behind
  kBackward,        ///< m, [bucket]: by input and by weight, layer by layer while dy is in the cache
  kSendGradient,    ///< m: to the stage before
  kReduceBucket,    ///< bucket: its gradients are complete here; start their exchange in the data group
  kFoldBucket,      ///< bucket: wait for the other replicas' slices and fold them: the own slice's gradient is complete
  kAgreeOnUpdate,   ///< all ranks: whether any gradient overflowed (then this step's updates and gathers are skipped),
                    ///< and the norms that updates need of whole tensors, or of all of them
  kUpdateBucket,    ///< bucket: update the slice this replica owns, start the gather
  kGatherBucket,    ///< bucket: wait for everyone's updated slices
};

inline constexpr std::int64_t kAllBuckets = -1;

/// One entry of a stage's list. `micro_batch` counts within the replica's step, from 0.
/// kBackward covers all cells of the stage (bucket = kAllBuckets) or, for the last micro-batch of a step, the cells of
/// one bucket, so that a bucket's reduction can start while earlier cells still run.
struct Instruction {
  Op op = Op::kForward;
  std::int64_t micro_batch = -1;
  std::int64_t bucket = kAllBuckets;

  bool operator==(const Instruction&) const = default;
};

/// A stage's list.
using StageProgram = std::vector<Instruction>;

/// "Forward 3", "Backward 7 bucket 2", "ReduceBucket 0".
std::string to_string(const Instruction& instruction);

}  // namespace convoy
