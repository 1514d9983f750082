/// The costs of a step's instructions, in seconds. The planner computes them; schedules and the simulator use them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "convoy/schedule/instruction.h"

namespace convoy {

/// The cost of a message between two neighbouring stages. It occupies the network link for size_bytes /
/// bytes_per_second and arrives latency_seconds later (Hockney 1994).
struct TransferCost {
  double latency_seconds = 0;
  std::int64_t size_bytes = 0;  ///< size of the activation, which its gradient has too
  double bytes_per_second = std::numeric_limits<double>::infinity();

  /// Returns the time for which the message occupies the network link, in seconds.
  double wire_seconds() const { return static_cast<double>(size_bytes) / bytes_per_second; }
};

/// The costs of a gradient bucket's reduction and update at the end of a step. Its exchanges between replicas run while
/// the stage computes.
struct BucketCost {
  /// Weight of this bucket's cells in the time of the chunk's backward, relative to the chunk's other buckets.
  double share = 1;
  double reduce_seconds = 0;  ///< duration of the exchange until all addends of the replica's own slice have arrived
  double fold_seconds = 0;  ///< time to add the last addends of the replica's own slice, during which the stage is busy
  double update_seconds = 0;  ///< time to update the weights of the replica's own slice, during which the stage is busy
  /// Duration of the exchange from the end of the update until the slices of all replicas have arrived.
  double gather_seconds = 0;
};

/// The costs of the work of a virtual stage (a chunk of cells on one stage) on one micro-batch. The time to recompute
/// activations is part of backward_input_seconds.
struct ChunkCost {
  double load_seconds = 0;     ///< time to read the samples; 0 if the chunk reads none
  double forward_seconds = 0;  ///< time of the forward pass of all cells
  double loss_seconds = 0;     ///< time of the loss; only the last virtual stage uses it
  double backward_input_seconds = 0;
  double backward_weight_seconds = 0;
  /// Time of a Backward that computes both gradients; empty: backward_input_seconds + backward_weight_seconds.
  std::optional<double> backward_seconds = {};
  TransferCost to_next = {};  ///< cost of a message to the next virtual stage
  /// Costs of each bucket; empty: buckets share the backward equally, and exchanges and updates take no time.
  std::vector<BucketCost> buckets = {};

  /// Returns the time of a Backward that is not split, in seconds.
  double joint_backward_seconds() const {
    return backward_seconds.value_or(backward_input_seconds + backward_weight_seconds);
  }
};

/// Neighbouring stages, [begin_stage, end_stage), that compute on the same processor cores, which are too few for all
/// of them. While n > stages_at_once stages compute, each runs at stages_at_once / n of its full speed.
struct SharedCores {
  std::int64_t begin_stage = 0, end_stage = 0;
  /// Number of stages that can compute at full speed; below 1 if stages of other replicas use these cores, too.
  double stages_at_once = 1;
};

/// The costs of one replica's step. All replicas are assumed to have the same costs.
struct PipelineCosts {
  std::vector<ChunkCost> chunks = {};  ///< costs of each virtual stage when it runs at full speed
  /// Groups of stages that share cores; each stage is in at most one group, or in none if it has its own cores.
  std::vector<SharedCores> shared = {};
  double agree_seconds = 0;  ///< duration of AgreeOnUpdate once the last rank has reached it
};

/// The durations of the instructions of a list without any waiting, in seconds, in the list's order.
using WorkSeconds = std::vector<double>;

/// Returns the duration of each instruction of a stage's list, without waiting, from the costs of the stage's chunks.
/// Messages and exchanges count as 0. Throws Error if the number of buckets in a chunk's costs is not that in the list.
WorkSeconds work_seconds(const StageProgram& program, const std::vector<ChunkCost>& chunks);

}  // namespace convoy
