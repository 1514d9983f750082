/// What a step's instructions take, in seconds: given by the planner, used by schedules and the simulator.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "convoy/schedule/instruction.h"

namespace convoy {

/// A message across a boundary. It holds the wire for size_bytes / bytes_per_second and is there latency_seconds after
/// that. Hockney 1994.
struct TransferCost {
  double latency_seconds = 0;
  std::int64_t size_bytes = 0;  ///< of an activation, and so of its gradient
  double bytes_per_second = std::numeric_limits<double>::infinity();

  double wire_seconds() const { return static_cast<double>(size_bytes) / bytes_per_second; }
};

/// A bucket at the end of a step. Exchanges run beside the arithmetic.
struct BucketCost {
  double share = 1;           ///< of its chunk's backward, relative to the shares of the chunk's other buckets
  double reduce_seconds = 0;  ///< exchange: from the start until what the own slice's sum needs is here
  double fold_seconds = 0;    ///< arithmetic
  double update_seconds = 0;  ///< arithmetic
  double gather_seconds = 0;  ///< exchange: from the end of the update until everyone's slices are here
};

/// A virtual stage's work on one micro-batch. Recomputed activations are part of the data gradient.
struct ChunkCost {
  double load_seconds = 0;     ///< where the chunk reads of the samples
  double forward_seconds = 0;  ///< all cells of the chunk
  double loss_seconds = 0;     ///< last virtual stage
  double backward_input_seconds = 0;
  double backward_weight_seconds = 0;
  std::optional<double> backward_seconds = {};  ///< of a joint Backward, where it is not the sum of the two
  TransferCost to_next = {};                    ///< the boundary to the next virtual stage
  std::vector<BucketCost> buckets = {};         ///< by bucket; empty: equal shares, exchanges and updates free

  double joint_backward_seconds() const {
    return backward_seconds.value_or(backward_input_seconds + backward_weight_seconds);
  }
};

/// Neighbouring stages that compute on the same cores, which are too few for all of them. While more than
/// `stages_at_once` compute, each of n has stages_at_once / n of its full speed.
struct SharedCores {
  std::int64_t begin_stage = 0, end_stage = 0;
  double stages_at_once = 1;  ///< below 1 where other replicas, alike, compute on these cores too
};

/// Of one replica; all replicas are taken to be alike.
struct PipelineCosts {
  std::vector<ChunkCost> chunks = {};    ///< by virtual stage; at full speed
  std::vector<SharedCores> shared = {};  ///< no stage is in two of them; those in none have cores of their own
  double agree_seconds = 0;              ///< from when the last rank has come to AgreeOnUpdate
};

/// What each instruction of a list takes by itself, seconds, in the list's order.
using WorkSeconds = std::vector<double>;

/// Of a stage's list, by the costs of its chunks; nothing for messages and exchanges. Throws Error where a chunk has
/// other buckets than costs.
WorkSeconds work_seconds(const StageProgram& program, const std::vector<ChunkCost>& chunks);

}  // namespace convoy
