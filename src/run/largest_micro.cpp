/// Plans steps of more and more samples until one does not fit.
#include "run/largest_micro.h"

#include <algorithm>

#include <fmt/core.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/comm/on_root.h"

#include "calibrate/run_layout.h"
#include "run/rank_memory.h"

namespace convoy {

namespace {

// The rest of a limit is for what no plan counts: buffers of MPI and of the loader, page tables, pages of the data.
constexpr double kUsableShare = 0.97;

// What other processes hold is not for the ranks.
void leave_to_others(MemoryPool& pool) {
  if (pool.available == 0 || pool.resident + pool.available >= pool.limit.bytes) return;
  pool.limit.bytes = pool.resident + pool.available;
  pool.limit.what += ", without what other processes hold";
}

// Returns why the plan does not fit the memory of the ranks; empty if it fits.
std::string find_shortage(const StepPlan& plan, CheckpointUse use, std::vector<RankMemory> ranks) {
  predict_needs(plan, use, ranks);
  for (auto& [name, pool] : memory_pools(ranks)) {
    leave_to_others(pool);
    if (pool.share() > kUsableShare) return describe(pool);
  }
  return "";
}

/// The search among steps that differ only in their micro-batch.
class Search {
 public:
  Search(const Parameters& params, const RuntimeSpec& spec, const GridShape& grid, std::int64_t num_samples,
         CheckpointUse use)
      : params_(params),
        spec_(spec),
        grid_(grid),
        use_(use),
        num_micro_batches_(spec.batch.global / spec.batch.micro),
        most_(std::max<std::int64_t>(1, num_samples / num_micro_batches_)) {}

  /// Returns the step with this micro-batch.
  RuntimeSpec with(std::int64_t micro) const {
    RuntimeSpec spec = spec_;
    spec.batch.global = num_micro_batches_ * micro;
    spec.batch.micro = spec.network.micro_batch = micro;
    choose_schedule(params_, grid_, spec);
    return spec;
  }

  /// Searches up and down from the micro-batch of the specification.
  std::int64_t largest(const std::vector<RankMemory>& ranks) const {
    std::int64_t fits = std::min(spec_.batch.micro, most_), fails = most_ + 1;
    const std::string first_reason = find_reason(fits, ranks);
    for (std::string reason = first_reason; !reason.empty(); reason = find_reason(fits, ranks)) {
      if (fits == 1) refuse("no micro-batch fits the memory. With {} samples: {}", spec_.batch.micro, first_reason);
      fails = fits;
      fits /= 2;
    }
    for (std::int64_t next = 2 * fits; next < fails; next = 2 * fits)
      (find_reason(next, ranks).empty() ? fits : fails) = next;
    while (fails - fits > 1) {
      const std::int64_t middle = fits + (fails - fits) / 2;
      (find_reason(middle, ranks).empty() ? fits : fails) = middle;
    }
    return fits;
  }

  /// Returns why no larger micro-batch than this one is possible.
  std::string describe_end(std::int64_t micro, const std::vector<RankMemory>& ranks) const {
    if (micro == most_) return "a step then has all samples of the data";
    return fmt::format("with {} samples: {}", micro + 1, find_reason(micro + 1, ranks));
  }

 private:
  // Returns why a micro-batch does not fit; empty if it fits.
  std::string find_reason(std::int64_t micro, const std::vector<RankMemory>& ranks) const {
    try {
      return find_shortage(StepPlan(with(micro), grid_), use_, ranks);
    } catch (const RequestError& error) {
      return error.what();
    }
  }

  const Parameters& params_;
  const RuntimeSpec& spec_;
  const GridShape grid_;
  const CheckpointUse use_;
  const std::int64_t num_micro_batches_, most_;
};

// Creates the operations that this rank runs, and those of ranks that this world does not have. Returns the memory per
// rank that they take in addition to the plan: scratch memory and, on a CPU, compiled code and tables, which are found
// by looking at the process.
std::int64_t measure_operations(const RuntimeSpec& spec, const GridShape& grid, ops::Backend& backend,
                                const mpi::Communicator& world) {
  const StepPlan plan(spec, grid);
  const std::int64_t before = resident().now;
  std::int64_t planned = 0, num_ranks = 0;
  for (std::int64_t rank = world.rank(); rank < grid.ranks(); rank += world.size(), ++num_ranks) {
    planned += plan.memory_of(rank % grid.stages).packed_weights;
    for (const ChunkPlan& chunk : plan.stages()[rank % grid.stages].chunks)
      for (std::int64_t i = chunk.cells.begin; i < chunk.cells.end; ++i) plan.network()[i]->create_ops(backend);
  }
  const std::int64_t scratch = backend.scratch_bytes();
  return backend.device().is_host() ? std::max(scratch, (resident().now - before - planned) / num_ranks) : scratch;
}

}  // namespace

LargestMicro find_largest_micro(const Parameters& params, const RuntimeSpec& spec, const GridShape& grid,
                                std::int64_t num_samples, CheckpointUse use, ops::Backend& backend,
                                const mpi::Communicator& world) {
  const Search search(params, spec, grid, num_samples, use);
  RankMemory mine = own_memory(spec.run.threads, &backend);
  std::int64_t micro = 0;
  std::string reason;
  // First without what operations take, then with what those for the micro-batch that was found take: a smaller one
  // needs no more.
  for (const bool knows_operations : {false, true}) {
    if (knows_operations) mine.scratch = measure_operations(search.with(micro), grid, backend, world);
    std::vector<RankMemory> ranks = gather_memory(mine, world);
    mpi::on_root(world, [&] {
      ranks.resize(static_cast<std::size_t>(grid.ranks()), ranks.front());
      micro = search.largest(ranks);
      reason = search.describe_end(micro, ranks);
    });
    world.broadcast(&micro, sizeof micro, 0);
  }
  return {.spec = search.with(micro), .reason = reason};
}

}  // namespace convoy
