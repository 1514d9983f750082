/// Lists the tags of all messages between two ranks, so that no two purposes share a tag in one group.
#pragma once

#include <cstdint>

namespace convoy::tags {

/// A tag near the upper end of the tags that every MPI allows, 0 to 32767 (MPI_TAG_UB).
inline constexpr int kMax = 32'000;

// --- Group of a model's stages (ProcessGrid::model()): a tag for each boundary between virtual stages that two ranks
//     share, and for each direction. `chunk_before` is the chunk before the boundary. Both ranks list their
//     micro-batches in the same order, and messages of one tag do not overtake each other.
constexpr int activation(std::int64_t chunk_before) {
  return static_cast<int>(2 * chunk_before);
}
constexpr int gradient(std::int64_t chunk_before) {
  return static_cast<int>(2 * chunk_before + 1);
}

// --- Group of the replicas of a stage, ordered by the slice that each owns: the exchange of a bucket's gradients.
constexpr int reduce(std::int64_t bucket) {
  return static_cast<int>(2 * bucket);
}
constexpr int gather(std::int64_t bucket) {
  return static_cast<int>(2 * bucket + 1);
}

// --- World: messages to rank 0, between steps or during them.
inline constexpr int kParameters = 9001;      ///< parameters, for a checkpoint
inline constexpr int kOptimizerState = 9002;  ///< optimizer state, for a checkpoint
inline constexpr int kTrainingLosses = 9003;
inline constexpr int kEvaluationLosses = 9004;
inline constexpr int kLogits = 9005;
inline constexpr int kBadSamples = 9006;
inline constexpr int kRankSamples = 9007;

// --- World: messages between ranks of one stage, between steps.
inline constexpr int kAudit = 9009;  ///< checksums of a micro-batch that two replicas have computed

// --- All ranks, during steps.
inline constexpr int kSnapshot = 9101;  ///< values that a rank holds, for a checkpoint, in several messages

// --- All ranks: the frames of a film, from rank 0, while the steps of other frames run.
inline constexpr int kFrameWindows = 9102;  ///< number of frames that come next
inline constexpr int kFrames = 9103;        ///< frames of a replica's share of a step

// --- World: messages from stage to stage of a replica, between steps.
inline constexpr int kRepeatedActivation = 9008;  ///< activation of a bad step, whose forward is run once more

// --- Any group.
inline constexpr int kClock = kMax - 1;   ///< times of ranks, to compare their clocks
inline constexpr int kNcclLink = kMax;    ///< ncclUniqueId, with which ranks open an NCCL communicator
inline constexpr int kChunks = kMax + 1;  ///< part of a gather that is too large for one message

}  // namespace convoy::tags
