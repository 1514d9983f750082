/// Text, and the model; measure_cell_costs.cpp has the clock.
#include "train/cell_costs.h"

#include <algorithm>
#include <sstream>

#include "convoy/model/partition.h"

namespace convoy {

namespace {

constexpr const char* kTitle = "convoy cell costs 2";

}  // namespace

std::string CellCosts::serialise() const {
  std::string text = fmt::format("{}\n{}\n# seconds: forward, backward, by input, by weight, recompute\n", kTitle, key);
  for (const CellCost& cell : cells) {
    for (const char* gap = ""; double CellCost::*part : kCellCostParts) {
      text += fmt::format("{}{}", gap, cell.*part);
      gap = " ";
    }
    text += '\n';
  }
  return text;
}

std::optional<CellCosts> CellCosts::parse(const std::string& text, const std::string& key) {
  std::istringstream stream(text);
  std::string title, found_key, units, line;
  std::getline(stream, title), std::getline(stream, found_key), std::getline(stream, units);
  if (title != kTitle || found_key != key) return std::nullopt;
  CellCosts costs{.key = key, .cells = {}};
  while (std::getline(stream, line)) {
    std::istringstream numbers(line);
    CellCost cell;
    for (double CellCost::*part : kCellCostParts)
      if (!(numbers >> cell.*part) || cell.*part < 0) return std::nullopt;
    costs.cells.push_back(cell);
  }
  return costs;
}

std::string costs_key(const NetworkSpec& network, ops::Library& library, std::int64_t ranks) {
  return fmt::format("{} on {} for {} classes, micro-batch {}, {}, frozen [{}]; {}; {} ranks at once", network.name,
                     to_string(network.image), network.num_classes, network.micro_batch, to_string(network.type),
                     fmt::join(network.freeze, ", "), library.device().description(), ranks);
}

// Backward by input and by weight are alike: each is a convolution of the same size.
CellCosts model_cell_costs(const Network& network) {
  const std::vector<double> seconds = model_cell_seconds(network), again = model_recompute_seconds(network);
  CellCosts costs;
  for (std::size_t i = 0; i < network.size(); ++i) {
    const double third = seconds[i] / 3;
    costs.cells.push_back({.forward_seconds = third,
                           .backward_seconds = 2 * third,
                           .backward_input_seconds = third,
                           .backward_weight_seconds = third,
                           .recompute_seconds = std::min(again[i], third)});
  }
  return costs;
}

}  // namespace convoy
