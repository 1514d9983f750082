/// Finds the largest micro-batch with which a training fits the memory of its ranks.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/base/grid_shape.h"
#include "convoy/comm/communicator.h"
#include "convoy/ops/backend.h"

#include "plan/step_plan.h"

namespace convoy {

/// The largest micro-batch that fits, and why the next larger one does not.
struct LargestMicro {
  std::int64_t micro = 0;
  std::string reason;
};

/// Returns the largest micro-batch with which each stage fits memory.limit_gib, and all ranks together the memory of
/// their nodes, control groups and GPUs. The number of micro-batches per step stays as in `spec`, so batch.global grows
/// with the micro-batch, but not beyond `num_samples`. Ranks of the grid that are not ranks of `world`, because one
/// process plans for several, count as if they ran on this machine. The memory of a rank is what it holds now, what is
/// predicted, and the scratch memory of its operations, which `backend` creates for this. All ranks of `world` call it
/// and get the same; `reason` is on rank 0 only. Throws RequestError if not even one sample fits.
LargestMicro find_largest_micro(const RuntimeSpec& spec, const GridShape& grid, std::int64_t num_samples,
                                ops::Backend& backend, const mpi::Communicator& world);

/// Returns the specification of a step with as many micro-batches of `micro` samples.
RuntimeSpec with_micro(RuntimeSpec spec, std::int64_t micro);

}  // namespace convoy
