/// The cost of a cell and the optimal partition of a chain.
#include "convoy/model/partition.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/wording.h"

namespace convoy {

namespace {

// The number of times that a step reads or writes memory of the size of a saved activation, for each of them. A
// residual block of two convolutions saves three: the outputs of both convolutions and of the first batch norm. For
// these it makes 11 accesses in forward and 20 in backward, with those to gradients and to the block's input and
// output. 8 of the 31 find their tensor in a cache, because it was just read: the second passes of batch norms, and the
// second of the two gradients of a convolution. The other 23 are about 8 for each activation.
constexpr double kTripsPerSavedByte = 8.0;

// The same for parameters: read by forward and by the gradient of the input; their gradient is written, reordered and
// summed.
constexpr double kTripsPerParameterByte = 5.0;

// The same for recomputed activations: written by the convolution, read and written by batch norm, read by the next
// convolution.
constexpr double kTripsPerRecomputedByte = 4.0;

void check_stages(std::int64_t stages, std::int64_t num_cells) {
  if (stages >= 1 && stages <= num_cells) return;
  refuse("grid.stages = {}: the network has {} cells, and a stage needs at least one. Allowed: 1 to {}.", stages,
         num_cells, num_cells);
}

// The numbered cells "0 stem, 1 layer1.0, 2 layer1.1": all, or only the first and last ones of a deep network.
std::string numbered(const std::vector<std::string>& cells) {
  constexpr std::int64_t kMaxShown = 24, kMaxAtAnEnd = 4;
  const std::int64_t num_cells = std::ssize(cells);
  std::vector<std::string> shown;
  for (std::int64_t i = 0; i < num_cells; ++i) {
    const bool is_at_an_end = i < kMaxAtAnEnd || i >= num_cells - kMaxAtAnEnd;
    if (num_cells <= kMaxShown || is_at_an_end) shown.push_back(fmt::format("{} {}", i, cells[i]));
    if (num_cells > kMaxShown && i == kMaxAtAnEnd) shown.emplace_back("...");
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

std::vector<double> model_recompute_seconds(const Network& network, const ProcessorRates& rates) {
  std::vector<double> seconds;
  for (const auto& cell : network) {
    const auto bytes = static_cast<double>(cell->memory().activation_bytes());
    const double again = cell->memory().forward_flop() / rates.flop_per_second +
                         kTripsPerRecomputedByte * bytes / rates.bytes_per_second;
    seconds.push_back(bytes == 0 ? 0 : again);
  }
  return seconds;
}

std::vector<double> model_cell_seconds(const Network& network, const ProcessorRates& rates) {
  std::vector<double> seconds;
  for (const auto& cell : network) {
    const CellMemory& memory = cell->memory();
    const double flop = memory.forward_flop() + memory.backward_flop();
    const double bytes =
        kTripsPerSavedByte * static_cast<double>(memory.activation_bytes() + memory.statistic_bytes()) +
        kTripsPerParameterByte * static_cast<double>(memory.arena_count() * sizeof(float));
    seconds.push_back(flop / rates.flop_per_second + bytes / rates.bytes_per_second);
  }
  return seconds;
}

std::vector<CellRange> partition(const std::vector<double>& cell_seconds, std::int64_t stages, const StageFits& fits) {
  const std::int64_t n = std::ssize(cell_seconds);
  check_stages(stages, n);
  std::vector<double> prefix(n + 1, 0.0);
  for (std::int64_t i = 0; i < n; ++i) prefix[i + 1] = prefix[i] + cell_seconds[i];

  // slowest[s][i]: the smallest possible maximum when the first i cells form s stages; cut[s][i]: the first cell of the
  // last of these stages.
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> slowest(stages + 1, std::vector<double>(n + 1, infinity));
  std::vector<std::vector<std::int64_t>> cut(stages + 1, std::vector<std::int64_t>(n + 1, 0));
  slowest[0][0] = 0;
  for (std::int64_t s = 1; s <= stages; ++s) {
    for (std::int64_t i = s; i <= n; ++i) {
      for (std::int64_t j = s - 1; j < i; ++j) {
        const double candidate = std::max(slowest[s - 1][j], prefix[i] - prefix[j]);
        if (candidate >= slowest[s][i] || (fits && !fits(s - 1, {.begin = j, .end = i}))) continue;
        slowest[s][i] = candidate, cut[s][i] = j;
      }
    }
  }
  if (slowest[stages][n] == infinity) return {};
  std::vector<CellRange> ranges(stages);
  for (std::int64_t s = stages, end = n; s > 0; --s) {
    ranges[s - 1] = {.begin = cut[s][end], .end = end};
    end = cut[s][end];
  }
  return ranges;
}

std::vector<CellRange> partition_at(const std::vector<std::int64_t>& cuts, const std::vector<std::string>& cells,
                                    std::int64_t stages) {
  const std::int64_t num_cells = std::ssize(cells);
  check_stages(stages, num_cells);
  if (stages == 1 && !cuts.empty())
    refuse(
        "grid.cuts = {} cuts the network, but grid.stages = 1 keeps it whole. Leave out grid.cuts, or give the stages.",
        fmt::join(cuts, ", "));
  if (std::ssize(cuts) != stages - 1)
    refuse(
        "grid.cuts = {} names {}, but {} {} needed: the first cell of each stage after the first (interleaved: of each "
        "chunk after the first). The cells are {}.",
        fmt::join(cuts, ", "), counted(std::ssize(cuts), "cell"), stages - 1, stages == 2 ? "is" : "are",
        numbered(cells));
  std::vector<CellRange> ranges;
  std::int64_t begin = 0;
  for (const std::int64_t cut : cuts) {
    if (cut < 1 || cut >= num_cells)
      refuse("grid.cuts = {}: no stage can begin with cell {}. Allowed: 1 to {}, of the cells {}.",
             fmt::join(cuts, ", "), cut, num_cells - 1, numbered(cells));
    if (cut <= begin)
      refuse("grid.cuts = {}: {} does not come after {}. Allowed: ascending numbers of cells, from 1 to {}.",
             fmt::join(cuts, ", "), cut, begin, num_cells - 1);
    ranges.push_back({.begin = begin, .end = cut});
    begin = cut;
  }
  ranges.push_back({.begin = begin, .end = num_cells});
  return ranges;
}

}  // namespace convoy
