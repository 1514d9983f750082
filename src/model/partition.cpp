/// The cost of a cell and the optimal partition of a chain.
#include "convoy/model/partition.h"

#include <algorithm>
#include <limits>

#include "convoy/base/error.h"

namespace convoy {

namespace {

// How often what a cell saves crosses the memory bus in a step: written by forward's convolution, read twice and
// written once by batch norm, read by the next convolution, and in backward read by the two gradients and twice by
// batch norm.
constexpr double kTripsPerSavedByte = 8.0;

// And its parameters: read by forward and by input, their gradient written, reordered and summed.
constexpr double kTripsPerParameterByte = 5.0;

// Of what is computed again: written by the convolution, read and written by batch norm, read by the next convolution.
constexpr double kTripsPerRecomputedByte = 4.0;

}  // namespace

std::vector<double> model_recompute_seconds(const Network& network, const DeviceRates& rates) {
  std::vector<double> seconds;
  for (const auto& cell : network) {
    const CellMemory& memory = cell->memory();
    if (memory.saved_size_bytes() == 0) {
      seconds.push_back(0);
      continue;
    }
    seconds.push_back(memory.forward_flop() / rates.flop_per_second +
                      kTripsPerRecomputedByte * static_cast<double>(memory.saved_size_bytes()) /
                          rates.bytes_per_second);
  }
  return seconds;
}

std::vector<double> model_cell_seconds(const Network& network, const DeviceRates& rates) {
  std::vector<double> seconds;
  for (const auto& cell : network) {
    const CellMemory& memory = cell->memory();
    const double flop = memory.forward_flop() + memory.backward_flop();
    const double bytes =
        kTripsPerSavedByte * static_cast<double>(memory.saved_size_bytes() + memory.noted_size_bytes()) +
        kTripsPerParameterByte * static_cast<double>(memory.arena_count() * sizeof(float));
    seconds.push_back(flop / rates.flop_per_second + bytes / rates.bytes_per_second);
  }
  return seconds;
}

std::vector<CellRange> partition(const std::vector<double>& cell_seconds, std::int64_t stages) {
  const std::int64_t n = std::ssize(cell_seconds);
  if (stages < 1 || stages > n)
    refuse("grid.stages = {}: the network has {} cells, and a stage needs at least one. Allowed: 1 to {}.", stages, n,
           n);
  std::vector<double> prefix(n + 1, 0.0);
  for (std::int64_t i = 0; i < n; ++i) prefix[i + 1] = prefix[i] + cell_seconds[i];

  // slowest[s][i]: the least maximal stage when the first i cells form s stages; cut[s][i]: where the last one begins.
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> slowest(stages + 1, std::vector<double>(n + 1, infinity));
  std::vector<std::vector<std::int64_t>> cut(stages + 1, std::vector<std::int64_t>(n + 1, 0));
  slowest[0][0] = 0;
  for (std::int64_t s = 1; s <= stages; ++s) {
    for (std::int64_t i = s; i <= n; ++i) {
      for (std::int64_t j = s - 1; j < i; ++j) {
        const double candidate = std::max(slowest[s - 1][j], prefix[i] - prefix[j]);
        if (candidate < slowest[s][i]) slowest[s][i] = candidate, cut[s][i] = j;
      }
    }
  }
  std::vector<CellRange> ranges(stages);
  for (std::int64_t s = stages, end = n; s > 0; --s) {
    ranges[s - 1] = {.begin = cut[s][end], .end = end};
    end = cut[s][end];
  }
  return ranges;
}

}  // namespace convoy
