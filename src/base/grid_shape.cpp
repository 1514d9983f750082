/// Divides ranks into a grid, and refuses a grid that does not fit them.
#include "convoy/base/grid_shape.h"

#include <string>

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

}  // namespace convoy
