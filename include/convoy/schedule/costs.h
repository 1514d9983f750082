/// The costs of a step's instructions, in seconds. The planner computes them; schedules and the simulator use them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "convoy/schedule/instruction.h"

namespace convoy {

/// The cost of a message across a boundary between stages. It occupies the wire for size_bytes / bytes_per_second and
/// arrives latency_seconds later (Hockney 1994).
struct TransferCost {
  double latency_seconds = 0;
  std::int64_t size_bytes = 0;  ///< size of the activation, and so of its gradient
  double bytes_per_second = std::numeric_limits<double>::infinity();

  /// Returns the time for which the message occupies the wire, in seconds.
  double wire_seconds() const { return static_cast<double>(size_bytes) / bytes_per_second; }
};

/// The costs of a gradient bucket at the end of a step. Exchanges run during the arithmetic.
struct BucketCost {
  double share = 1;           ///< its part of its chunk's backward, relative to the shares of the chunk's other buckets
  double reduce_seconds = 0;  ///< exchange: from its start until all addends of the own slice have arrived
  double fold_seconds = 0;    ///< arithmetic
  double update_seconds = 0;  ///< arithmetic
  double gather_seconds = 0;  ///< exchange: from the end of the update until the slices of all replicas have arrived
};

/// The costs of a virtual stage's work on one micro-batch. Recomputing of activations counts as part of the data
/// gradient.
struct ChunkCost {
  double load_seconds = 0;     ///< reading of samples; 0 if the chunk reads none
  double forward_seconds = 0;  ///< all cells of the chunk
  double loss_seconds = 0;     ///< used for the last virtual stage only
  double backward_input_seconds = 0;
  double backward_weight_seconds = 0;
  std::optional<double> backward_seconds = {};  ///< joint Backward; empty: the sum of the two above
  TransferCost to_next = {};                    ///< a message to the next virtual stage
  std::vector<BucketCost> buckets = {};         ///< by bucket; empty: equal shares; exchanges and updates take no time

  /// Returns the time of a Backward that is not split, in seconds.
  double joint_backward_seconds() const {
    return backward_seconds.value_or(backward_input_seconds + backward_weight_seconds);
  }
};

/// Neighbouring stages, [begin_stage, end_stage), that compute on the same cores, which are too few for all of them.
/// While n > stages_at_once stages compute, each runs at stages_at_once / n of its full speed.
struct SharedCores {
  std::int64_t begin_stage = 0, end_stage = 0;
  double stages_at_once = 1;  ///< below 1 if equal stages of other replicas compute on these cores too
};

/// The costs of one replica's step. All replicas are assumed to be alike.
struct PipelineCosts {
  std::vector<ChunkCost> chunks = {};    ///< costs at full speed, by virtual stage
  std::vector<SharedCores> shared = {};  ///< a stage is in at most one of them; a stage in none has cores of its own
  double agree_seconds = 0;              ///< duration of AgreeOnUpdate once the last rank has reached it
};

/// The work of each instruction of a list without any waiting, in seconds, in the list's order.
using WorkSeconds = std::vector<double>;

/// Returns the work of a stage's list from the costs of its chunks; messages and exchanges count as 0. Throws Error if
/// `chunks` gives a chunk another number of buckets than the list has.
WorkSeconds work_seconds(const StageProgram& program, const std::vector<ChunkCost>& chunks);

}  // namespace convoy
