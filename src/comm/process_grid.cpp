/// The grid's splits of the world, and the refusal of a grid that does not fit.
#include "convoy/comm/process_grid.h"

#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "convoy/base/error.h"
#include "convoy/base/wording.h"

namespace convoy {

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> found;
  for (std::int64_t candidate = 1; candidate <= number; ++candidate) {
    if (number % candidate == 0) found.push_back(candidate);
  }
  return found;
}

GridShape grid_shape(std::int64_t stages, std::int64_t ranks) {
  if (stages >= 1 && ranks % stages == 0) return {.stages = stages, .replicas = ranks / stages};
  const std::string alone =
      ranks > 1 ? "" : fmt::format(" To start more ranks, use mpirun, for example mpirun -n {}.", stages);
  refuse("grid.stages = {} does not divide the {} of this job. Allowed: {}.{}", stages, counted(ranks, "rank"),
         fmt::join(divisors(ranks), ", "), stages > 1 ? alone : "");
}

ProcessGrid::ProcessGrid(const mpi::Communicator& world, std::int64_t stages) : world_(world) {
  const auto num_stages = static_cast<int>(grid_shape(stages, world.size()).stages);
  const int my_replica = world.rank() / num_stages;
  const int my_stage = world.rank() % num_stages;
  model_ = world.split(my_replica, my_stage);    // all ranks of world
  data_ = world.split(my_stage, my_replica);     // all ranks of world
  beside_steps_ = world.split(0, world.rank());  // all ranks of world
}

}  // namespace convoy
