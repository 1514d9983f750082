/// Tags of all messages between two ranks, in one list, so that no two purposes share a tag in one group.
#pragma once

#include <cstdint>

namespace convoy::tags {

/// An upper end of the tags: every MPI allows tags up to 32767 (MPI_TAG_UB).
inline constexpr int kMax = 32'000;

// --- Model group: a tag for each boundary between virtual stages that two ranks share, and each direction. Both ends
//     list their micro-batches in the same order, and messages of one tag do not overtake each other.
constexpr int activation(std::int64_t chunk_before) {
  return static_cast<int>(2 * chunk_before);
}
constexpr int gradient(std::int64_t chunk_before) {
  return static_cast<int>(2 * chunk_before + 1);
}

// --- Replicas of a stage, by the slice that each owns: buckets of the gradients' exchange.
constexpr int reduce(std::int64_t bucket) {
  return static_cast<int>(2 * bucket);
}
constexpr int gather(std::int64_t bucket) {
  return static_cast<int>(2 * bucket + 1);
}

// --- World: to rank 0, between steps or during them.
inline constexpr int kParameters = 9001;      ///< for a checkpoint
inline constexpr int kOptimizerState = 9002;  ///< for a checkpoint
inline constexpr int kTrainingLosses = 9003;
inline constexpr int kEvaluationLosses = 9004;
inline constexpr int kLogits = 9005;
inline constexpr int kBadSamples = 9006;
inline constexpr int kRankSamples = 9007;

// --- World: between ranks of one stage, between steps.
inline constexpr int kAudit = 9009;  ///< checksums of a micro-batch

// --- All ranks, during steps.
inline constexpr int kSnapshot = 9101;  ///< a rank's part of a checkpoint, piece by piece

// --- World: from stage to stage of a replica, between steps.
inline constexpr int kRepeatedActivation = 9008;  ///< when the forward of a bad step is run once more

// --- Any group.
inline constexpr int kClock = kMax - 1;   ///< comparing clocks
inline constexpr int kNcclLink = kMax;    ///< NCCL's name of a link
inline constexpr int kChunks = kMax + 1;  ///< parts of a gather that is too large for one message

}  // namespace convoy::tags
