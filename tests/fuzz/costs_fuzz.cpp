/// The blocks of costs.txt: times of cells, and rates of messages. What is accepted is written, and is the same when it
/// is read back.
#include <algorithm>
#include <optional>

#include "fuzz/fuzz.h"
#include "plan/machine_costs.h"

namespace {

/// Returns the second line: the key by which a run looks for these measurements.
std::string key_of(const std::string& text) {
  const std::size_t begin = std::min(text.find('\n'), text.size() - 1) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  fuzz::Input input(data, size);
  const std::size_t num_cells = input.below(8);
  const std::string text = input.rest() + '\n', key = key_of(text);
  fuzz::read_or_refuse([&] {
    const auto costs = CellCosts::parse(text, key, num_cells);
    if (!costs) return;
    fuzz::require(costs->cells.size() == num_cells, "each cell has its times");
    fuzz::require(CellCosts::parse(costs->serialise(), key, num_cells) == costs, "written costs are read as they were");
  });
  return fuzz::read_or_refuse([&] {
    const auto rates = MachineRates::parse(text, key);
    if (!rates) return;
    fuzz::require(MachineRates::parse(rates->serialise(), key) == rates, "written rates are read as they were");
  });
}
