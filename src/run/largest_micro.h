/// Finds the largest micro-batch with which a training fits the memory of its ranks.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/base/grid_shape.h"
#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"

#include "plan/step_plan.h"
#include "run/rank_memory.h"

namespace convoy {

struct Parameters;

/// The step with the largest micro-batch that fits.
struct LargestMicro {
  RuntimeSpec spec;    ///< with this micro-batch, and the schedule that was chosen for it
  std::string reason;  ///< why the next larger micro-batch does not fit; on rank 0 only
};

/// Returns the largest micro-batch with which each stage fits memory.limit_gib, and all ranks together the memory of
/// their nodes, control groups and GPUs. The number of micro-batches per step stays as in `spec`, so batch.global grows
/// with the micro-batch, but not beyond `num_samples`. If schedule.kind = auto, it is chosen for each micro-batch.
/// Ranks of the grid that are not ranks of `world`, because one
/// process plans for several, count as if they ran on this machine. The memory of a rank is what it holds now, what is
/// predicted, and the scratch memory of its operations, which `backend` creates for this. All ranks of `world` call it.
/// Throws RequestError if not even one sample fits.
LargestMicro find_largest_micro(const Parameters& params, const RuntimeSpec& spec, const GridShape& grid,
                                std::int64_t num_samples, CheckpointUse use, ops::Backend& backend,
                                const mpi::Communicator& world);

}  // namespace convoy
