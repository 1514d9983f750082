/// The file is blocks of lines with an empty line between them; a block's second line is the key of what was measured.
#include "train/calibration.h"

#include <algorithm>
#include <span>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/checkpoint.h"
#include "convoy/train/trainer.h"

#include "io/atomic_file.h"
#include "train/share_plans.h"

namespace convoy {

namespace {

constexpr std::size_t kMostBlocks = 64;  // of the latest measurements

std::vector<std::string> blocks_of(const std::string& text) {
  std::vector<std::string> blocks;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t gap = text.find("\n\n", begin);
    const std::size_t end = gap == std::string::npos ? text.size() : gap + 1;
    if (end > begin + 1) blocks.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return blocks;
}

// Title and key.
std::string head_of(const std::string& block) {
  const std::size_t title_end = block.find('\n');
  return block.substr(0, title_end == std::string::npos ? title_end : block.find('\n', title_end + 1));
}

// The first that `parse` takes of the file's blocks; what it throws is why it is to be measured again.
template <typename Parse>
auto find(const std::string& text, const std::string& file, bool is_root, const Parse& parse) -> decltype(parse(text)) {
  try {
    for (const std::string& block : blocks_of(text))
      if (auto found = parse(block)) return found;
  } catch (const Error& error) {
    if (is_root)
      log_warning(fmt::format("{} cannot be used: {}. What it should hold is measured again", file, error.what()));
  }
  return std::nullopt;
}

std::int64_t largest_boundary(const Network& network) {
  std::int64_t bytes = 0;
  for (std::size_t i = 1; i < network.size(); ++i) bytes = std::max(bytes, network[i]->x().bytes());
  return bytes;
}

std::int64_t arena_bytes(const Network& network) {
  std::int64_t count = 0;
  for (const auto& cell : network) count += cell->memory().arena_count();
  return count * kFloatBytes;
}

}  // namespace

std::string costs_path(const RunParams& run) {
  return run.directory + "/costs.txt";
}

NodeLoad find_node_load(const RunParams& run, const mpi::Communicator& world, ops::Library& library) {
  return library.device().is_host() ? find_node_load(world, threads_a_rank(run, world)) : NodeLoad();
}

MachineCosts find_machine_costs(const CalibrationSpec& spec, const mpi::Communicator& world, ops::Library& library) {
  std::string text;
  mpi::on_root(world, [&] { text = io::read_text(spec.file).value_or(""); });
  text = world.broadcast(std::move(text), 0);
  const Network network = make_network(spec.network);
  const RatesSpec rates{.message_bytes = largest_boundary(network), .arena_bytes = arena_bytes(network)};
  // By the root's keys: nodes may differ in their processors, and all ranks must find or measure the same.
  const std::string cells_key = world.broadcast(costs_key(spec.network, library, world.size(), spec.node), 0);
  const std::string rates_key_of_root = world.broadcast(rates_key(rates, library, world.size(), spec.node), 0);
  const auto cells_found = find(text, spec.file, world.rank() == 0, [&](const std::string& block) {
    return CellCosts::parse(block, cells_key, network.size());
  });
  const auto rates_found = find(text, spec.file, world.rank() == 0, [&](const std::string& block) {
    return MachineRates::parse(block, rates_key_of_root);
  });
  MachineCosts costs{.node = spec.node};
  if (cells_found) {
    costs.cells = *cells_found;
  } else {
    share_plans(network, world, spec.plans_file, library);
    costs.cells = measure_cell_costs(spec.network, spec.node, world, library);
  }
  costs.rates = rates_found ? *rates_found : measure_rates(rates, spec.node, world, library);
  costs.cells.key = cells_key;
  costs.rates.key = rates_key_of_root;
  return costs;
}

std::string with_costs(const std::string& text, const MachineCosts& costs) {
  std::vector<std::string> kept = blocks_of(text);
  const auto put = [&](const std::string& key, const std::string& block) {
    if (key.empty()) return;
    std::erase_if(kept, [&](const std::string& other) { return head_of(other) == head_of(block); });
    kept.push_back(block);
  };
  put(costs.cells.key, costs.cells.serialise());
  put(costs.rates.key, costs.rates.serialise());
  if (kept.size() > kMostBlocks) kept.erase(kept.begin(), kept.end() - kMostBlocks);
  return fmt::format("{}", fmt::join(kept, "\n"));
}

void keep_costs(const std::string& file, const MachineCosts& costs) {
  const std::string before = io::read_text(file).value_or(""), after = with_costs(before, costs);
  if (after != before) io::write_file_atomically(file, std::as_bytes(std::span(after)));
}

}  // namespace convoy
