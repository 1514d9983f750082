/// The shape of a grid of ranks, known before any rank starts.
#pragma once

#include <cstdint>
#include <vector>

namespace convoy {

/// The numbers of stages and of replicas of a grid; rank = replica * stages + stage.
struct GridShape {
  std::int64_t stages = 1;
  std::int64_t replicas = 1;

  std::int64_t ranks() const { return stages * replicas; }
};

/// Returns all divisors of `number`, the smallest first.
std::vector<std::int64_t> divisors(std::int64_t number);

/// Returns the grid with this number of stages. Throws RequestError if `stages` does not divide `ranks`, naming
/// grid.stages and the values that do.
GridShape grid_shape(std::int64_t stages, std::int64_t ranks);

}  // namespace convoy
