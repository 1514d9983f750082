/// Implements run_backend.h.
#include "run/run_backend.h"

#include <optional>

#include <fmt/core.h>

#include "convoy/base/error.h"
#include "convoy/base/wording.h"
#include "convoy/comm/openmp.h"
#include "convoy/comm/placement.h"
#include "convoy/comm/topology.h"
#include "convoy/device/device.h"
#include "convoy/params/parameters.h"

namespace convoy {

namespace {

std::string describe_few_processors(std::int64_t threads, std::int64_t processors) {
  if (threads <= processors) return "";
  return fmt::format(
      "run.threads = {}: more threads than the {} that a rank may use, so that they wait for each other. Use "
      "run.threads = {}, or let ranks use more processors (taskset, mpirun --bind-to none, srun --cpus-per-task)",
      threads, counted(processors, "processor"), processors);
}

std::string describe_unused_openmp(std::int64_t asked, std::int64_t threads) {
  const std::optional<std::int64_t> wanted = openmp_threads();
  if (asked > 0 || !wanted || *wanted == threads) return "";
  return fmt::format(
      "OMP_NUM_THREADS = {} has no effect: each rank computes with {}, one for each of its processors. To set the "
      "number, use run.threads = {}",
      *wanted, counted(threads, "thread"), *wanted);
}

std::string describe_unused_binding() {
  const std::string binding = openmp_binding();
  if (binding.empty()) return "";
  return binding + (binding.find(", ") == std::string::npos ? " has" : " have") +
         " no effect: convoy itself gives ranks processors of their own, on which their threads may move "
         "(run.placement)";
}

}  // namespace

std::vector<std::string> thread_warnings(const RunParams& run, const mpi::Communicator& world) {
  if (world.sum(ops::computes_on_host(run.device) ? 0 : 1) > 0) return {};
  const std::int64_t threads = threads_per_rank(run.threads, world);
  const std::int64_t processors = min_usable_processors(world);
  if (world.rank() > 0) return {};
  std::vector<std::string> warnings = {describe_few_processors(threads, processors),
                                       describe_unused_openmp(run.threads, threads), describe_unused_binding()};
  std::erase(warnings, "");
  return warnings;
}

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
