/// Plans steps of more and more samples until one does not fit.
#include "run/largest_micro.h"

#include <algorithm>

#include <fmt/core.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/comm/on_root.h"

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
std::string find_shortage(const StepPlan& plan, std::vector<RankMemory> ranks) {
  predict_needs(plan, /*resumes=*/false, ranks);
  for (auto& [name, pool] : memory_pools(ranks)) {
    leave_to_others(pool);
    if (pool.share() > kUsableShare) return describe(pool);
  }
  return "";
}

// Searches on rank 0.
class Search {
 public:
  Search(const RuntimeSpec& spec, const GridShape& grid, const std::vector<RankMemory>& ranks)
      : spec_(spec), grid_(grid), ranks_(ranks) {}

  /// Searches from spec.batch.micro up and down.
  LargestMicro largest(std::int64_t num_samples) const {
    const std::int64_t num_micro_batches = spec_.batch.global / spec_.batch.micro;
    const std::int64_t most = std::max<std::int64_t>(1, num_samples / num_micro_batches);
    std::int64_t fits = std::min(spec_.batch.micro, most), fails = most + 1;
    const std::string first_reason = find_reason(fits);
    for (std::string reason = first_reason; !reason.empty(); reason = find_reason(fits)) {
      if (fits == 1) refuse("no micro-batch fits the memory. With {} samples: {}", spec_.batch.micro, first_reason);
      fails = fits;
      fits /= 2;
    }
    for (std::int64_t next = 2 * fits; next < fails; next = 2 * fits) (find_reason(next).empty() ? fits : fails) = next;
    while (fails - fits > 1) {
      const std::int64_t middle = fits + (fails - fits) / 2;
      (find_reason(middle).empty() ? fits : fails) = middle;
    }
    return {.micro = fits,
            .reason = fits == most
                          ? fmt::format("a step of {} micro-batches has all samples of the data", num_micro_batches)
                          : fmt::format("with {} samples: {}", fits + 1, find_reason(fits + 1))};
  }

 private:
  // Returns why a micro-batch does not fit; empty if it fits.
  std::string find_reason(std::int64_t micro) const {
    try {
      return find_shortage(StepPlan(with_micro(spec_, micro), grid_), ranks_);
    } catch (const RequestError& error) {
      return error.what();
    }
  }

  const RuntimeSpec& spec_;
  const GridShape grid_;
  const std::vector<RankMemory>& ranks_;
};

// Returns the scratch memory of the operations that this rank runs, and of ranks that this world does not have.
std::int64_t find_scratch(const RuntimeSpec& spec, const GridShape& grid, ops::Backend& backend,
                          const mpi::Communicator& world) {
  const StepPlan plan(spec, grid);
  for (std::int64_t rank = world.rank(); rank < grid.ranks(); rank += world.size())
    for (const ChunkPlan& chunk : plan.stages()[rank % grid.stages].chunks)
      for (std::int64_t i = chunk.cells.begin; i < chunk.cells.end; ++i) plan.network()[i]->create_ops(backend);
  return backend.scratch_bytes();
}

}  // namespace

RuntimeSpec with_micro(RuntimeSpec spec, std::int64_t micro) {
  spec.batch.global = spec.batch.global / spec.batch.micro * micro;
  spec.batch.micro = spec.network.micro_batch = micro;
  return spec;
}

LargestMicro find_largest_micro(const RuntimeSpec& spec, const GridShape& grid, std::int64_t num_samples,
                                ops::Backend& backend, const mpi::Communicator& world) {
  RankMemory mine = own_memory(spec.run.threads, &backend);
  LargestMicro largest;
  // First without scratch memory, then with that of the operations for the micro-batch that was found: a smaller one
  // needs no more.
  for (const bool knows_scratch : {false, true}) {
    if (knows_scratch) mine.scratch = find_scratch(with_micro(spec, largest.micro), grid, backend, world);
    std::vector<RankMemory> ranks = gather_memory(mine, world);
    mpi::on_root(world, [&] {
      ranks.resize(static_cast<std::size_t>(grid.ranks()), ranks.front());
      largest = Search(spec, grid, ranks).largest(num_samples);
    });
    world.broadcast(&largest.micro, sizeof largest.micro, 0);
  }
  return largest;
}

}  // namespace convoy
