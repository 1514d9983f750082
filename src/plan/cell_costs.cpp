/// Cell costs as text, and cell costs from a model.
#include "plan/cell_costs.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/model/partition.h"

#include "plan/parse_numbers.h"

namespace convoy {

namespace {

constexpr const char* kTitle = "convoy cell costs 4";
constexpr double kTripsOfPacking = 4;                   // weights for forward and data gradient, each read and written
constexpr NumberLimits kSeconds{.min = 0, .max = 1e5};  // up to about a day per cell

double packed_bytes_of(const Cell& cell) {
  std::int64_t bytes = 0;
  for (const CellMemory::Entry& entry : cell.memory().parameters()) bytes += entry.spec.packed_count * kFloatBytes;
  return static_cast<double>(bytes);
}

}  // namespace

std::string CellCosts::serialise() const {
  std::string text = fmt::format(
      "{}\n{}\n# seconds: forward, backward, data gradient, weight gradient, recompute, evaluation, loading of "
      "weights\n",
      kTitle, key);
  for (const CellCost& cell : cells) {
    for (const char* gap = ""; double CellCost::*part : kCellCostParts) {
      text += fmt::format("{}{}", gap, cell.*part);
      gap = " ";
    }
    text += '\n';
  }
  return text;
}

std::optional<CellCosts> CellCosts::parse(const std::string& text, const std::string& key, std::size_t num_cells) {
  std::istringstream stream(text);
  std::string title, found_key, units, line;
  std::getline(stream, title), std::getline(stream, found_key), std::getline(stream, units);
  if (title != kTitle || found_key != key) return std::nullopt;
  if (!text.ends_with('\n')) fail("its last line is truncated");
  CellCosts costs{.key = key, .cells = {}};
  while (std::getline(stream, line)) {
    const std::vector<double> numbers = parse_numbers(line, std::size(kCellCostParts), kSeconds);
    CellCost& cell = costs.cells.emplace_back();
    for (std::size_t i = 0; i < numbers.size(); ++i) cell.*kCellCostParts[i] = numbers[i];
  }
  if (costs.cells.size() != num_cells)
    fail("it holds the times of {} cells, and the network has {}", costs.cells.size(), num_cells);
  return costs;
}

// The data gradient and the weight gradient take as long as forward: each is a convolution of the same size.
CellCosts model_cell_costs(const Network& network, const ProcessorRates& rates) {
  const std::vector<double> seconds = model_cell_seconds(network, rates),
                            again = model_recompute_seconds(network, rates);
  CellCosts costs;
  for (std::size_t i = 0; i < network.size(); ++i) {
    const double third = seconds[i] / 3;
    costs.cells.push_back(
        {.forward_seconds = third,
         .backward_seconds = 2 * third,
         .backward_input_seconds = third,
         .backward_weight_seconds = third,
         .recompute_seconds = std::min(again[i], third),
         .evaluation_seconds = third,
         .load_weights_seconds = kTripsOfPacking * packed_bytes_of(*network[i]) / rates.bytes_per_second});
  }
  return costs;
}

}  // namespace convoy
