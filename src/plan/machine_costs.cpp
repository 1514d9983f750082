/// Costs as blocks of text, each with a title, a key and lines of numbers; and costs from a model.
#include "plan/machine_costs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <numbers>
#include <sstream>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/wording.h"
#include "convoy/params/command_parameters.h"

namespace convoy {

namespace {

constexpr const char* kRatesTitle = "convoy rates 3";
constexpr const char* kCellsTitle = "convoy cell costs 4";
constexpr double kTripsOfPacking = 4;  // weights for forward and data gradient, each read and written

struct NumberLimits {
  double min = 0, max = 0;
};
constexpr NumberLimits kRates{.min = 1e-12, .max = 1e18};  // limits of all seconds and bytes per second
constexpr NumberLimits kSeconds{.min = 0, .max = 1e5};     // up to about a day per cell

using Numbers = std::vector<double>;

// Returns the numbers of a line. Throws Error if there are not `count` of them, or if one is out of range.
Numbers parse_numbers(const std::string& line, std::size_t count, const NumberLimits& range) {
  std::istringstream words(line);
  Numbers numbers;
  for (std::string word; words >> word;) {
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool is_number = error == std::errc() && end == word.data() + word.size();
    if (!is_number || !(number >= range.min && number <= range.max))
      fail("'{}' is not a number from {:g} to {:g}", word, range.min, range.max);
    numbers.push_back(number);
  }
  if (numbers.size() != count) fail("'{}' does not have {} numbers", line, count);
  return numbers;
}

// Returns the lines of numbers of a block; nothing if it has another title or key. Throws Error if it is damaged.
std::optional<std::vector<Numbers>> parse_block(const std::string& text, const char* title, const std::string& key,
                                                std::size_t num_columns, const NumberLimits& range) {
  std::istringstream stream(text);
  std::string found_title, found_key, units, line;
  std::getline(stream, found_title), std::getline(stream, found_key), std::getline(stream, units);
  if (found_title != title || found_key != key) return std::nullopt;
  if (!text.ends_with('\n')) fail("its last line is truncated");
  std::vector<Numbers> lines;
  while (std::getline(stream, line)) lines.push_back(parse_numbers(line, num_columns, range));
  return lines;
}

double packed_bytes_of(const Cell& cell) {
  std::int64_t bytes = 0;
  for (const CellMemory::Entry& entry : cell.memory().parameters()) bytes += entry.spec.packed_count * kFloatBytes;
  return static_cast<double>(bytes);
}

constexpr double kGiga = 1e9, kTera = 1e12, kMicro = 1e-6;

// Returns the value for a level of the network: 0 on a node, 1 between nodes. A single value is for both. Returns 0 if
// none is given.
double of_level(const std::vector<double>& given, std::size_t level) {
  if (given.empty()) return 0;
  return given.size() == 1 ? given.front() : given[level];
}

double normal_quantile(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::numbers::sqrt2) / 2 < p ? low : high) = middle;
  }
  return low;
}

}  // namespace

std::string describe(const LinkRates& rates) {
  return fmt::format("{} us + {} GB/s", plain_number(1e6 * rates.latency_seconds, 3),
                     plain_number(1e-9 * rates.bytes_per_second, 3));
}

std::string MachineRates::serialise() const {
  return fmt::format(
      "{}\n{}\n# messages on a node, between nodes: seconds, bytes per second, in exchanges; memory: bytes per second; "
      "1: ranks copy messages on a node, 2: others do\n{} {} {} {} {} {} {} {}\n",
      kRatesTitle, key, on_node.latency_seconds, on_node.bytes_per_second, on_node.exchange_bytes_per_second,
      between_nodes.latency_seconds, between_nodes.bytes_per_second, between_nodes.exchange_bytes_per_second,
      memory_bytes_per_second, copied_by_ranks ? 1 : 2);
}

std::optional<MachineRates> MachineRates::parse(const std::string& text, const std::string& key) {
  const auto lines = parse_block(text, kRatesTitle, key, 8, kRates);
  if (!lines) return std::nullopt;
  if (lines->size() != 1) fail("it has {} lines of rates in place of one", lines->size());
  const Numbers& numbers = lines->front();
  const auto link = [&](std::size_t at) {
    return LinkRates{.latency_seconds = numbers[at],
                     .bytes_per_second = numbers[at + 1],
                     .exchange_bytes_per_second = numbers[at + 2]};
  };
  return MachineRates{.key = key,
                      .on_node = link(0),
                      .between_nodes = link(3),
                      .copied_by_ranks = numbers[7] == 1,
                      .memory_bytes_per_second = numbers[6]};
}

std::string CellCosts::serialise() const {
  std::string text = fmt::format(
      "{}\n{}\n# seconds: forward, backward, data gradient, weight gradient, recompute, evaluation, loading of "
      "weights\n",
      kCellsTitle, key);
  for (const CellCost& cell : cells) {
    Numbers seconds;
    for (double CellCost::*part : kCellCostParts) seconds.push_back(cell.*part);
    text += fmt::format("{}\n", fmt::join(seconds, " "));
  }
  return text;
}

std::optional<CellCosts> CellCosts::parse(const std::string& text, const std::string& key, std::size_t num_cells) {
  const auto lines = parse_block(text, kCellsTitle, key, std::size(kCellCostParts), kSeconds);
  if (!lines) return std::nullopt;
  if (lines->size() != num_cells)
    fail("it holds the times of {} cells, and the network has {}", lines->size(), num_cells);
  CellCosts costs{.key = key, .cells = std::vector<CellCost>(num_cells)};
  for (std::size_t cell = 0; cell < num_cells; ++cell)
    for (std::size_t i = 0; i < std::size(kCellCostParts); ++i)
      costs.cells[cell].*kCellCostParts[i] = (*lines)[cell][i];
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

MachineCosts model_machine_costs(const Network& network, const ProcessorRates& rates) {
  return {.cells = model_cell_costs(network, rates), .rates = {}};
}

ProcessorRates processor_rates(const PlanParams& plan) {
  ProcessorRates rates;
  if (plan.tflop_s > 0) rates.flop_per_second = kTera * plan.tflop_s;
  if (plan.memory_gb_s > 0) rates.bytes_per_second = kGiga * plan.memory_gb_s;
  return rates;
}

void describe_cluster(const PlanParams& plan, MachineCosts& costs) {
  MachineRates& rates = costs.rates;
  for (std::size_t level = 0; level < 2; ++level) {
    LinkRates& link = level == 0 ? rates.on_node : rates.between_nodes;
    if (const double us = of_level(plan.latency_us, level); us > 0) link.latency_seconds = kMicro * us;
    if (const double gb_s = of_level(plan.bandwidth_gb_s, level); gb_s > 0)
      link.bytes_per_second = link.exchange_bytes_per_second = kGiga * gb_s;
  }
  if (plan.node_gb_s > 0) rates.node_bytes_per_second = kGiga * plan.node_gb_s;
  if (plan.memory_gb_s > 0) rates.memory_bytes_per_second = kGiga * plan.memory_gb_s;
  if (plan.ranks_per_node > 0)
    costs.node = {.ranks = plan.ranks_per_node, .ranks_at_once = static_cast<double>(plan.ranks_per_node)};
}

bool describes_messages(const PlanParams& plan) {
  return !plan.latency_us.empty() || !plan.bandwidth_gb_s.empty() || plan.node_gb_s > 0;
}

double expected_max_of_normals(std::int64_t n) {
  if (n <= 1) return 0;
  return normal_quantile((static_cast<double>(n) - 0.375) / (static_cast<double>(n) + 0.25));
}

}  // namespace convoy
