/// See run_backend.h.
#include "run/run_backend.h"

#include "convoy/base/error.h"
#include "convoy/comm/placement.h"
#include "convoy/comm/topology.h"

namespace convoy {

void place_on_processors(const RunParams& run, const mpi::Communicator& world) {
  const bool is_wanted = run.placement == PlacementKind::kAuto && ops::computes_on_host(run.device);
  if (world.sum(is_wanted ? 0 : 1) > 0) return;
  place_ranks(world, threads_per_rank(run.threads, world));
}

ops::BackendSpec backend_spec(const Parameters& params, std::int64_t threads, std::int64_t local_rank) {
  return {.device = params.run.device,
          .threads = threads,
          .local_rank = local_rank,
          .tf32 = params.train.precision == PrecisionKind::kTf32};
}

void check_precision(PrecisionKind precision, const Device& device) {
  if (device.is_host() && precision != PrecisionKind::kF32 && precision != PrecisionKind::kBf16)
    refuse(
        "train.precision = {} needs a GPU; the CPU has f32 and bf16. Use train.precision = f32 or bf16, or run.device "
        "= cuda.",
        name_of(precision));
}

}  // namespace convoy
