/// The file consists of blocks of lines, separated by empty lines. A block's second line is the key of its measurement.
#include "calibrate/calibration.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/progress_line.h"
#include "convoy/base/repetitions.h"
#include "convoy/base/text.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/topology.h"
#include "convoy/io/atomic_file.h"
#include "convoy/params/run_parameters.h"

#include "calibrate/cost_keys.h"
#include "calibrate/measure.h"
#include "calibrate/measure_cell_costs.h"
#include "calibrate/measure_rates.h"
#include "plan/step_plan.h"
#include "step/share_engines.h"

namespace convoy {

namespace {

constexpr std::size_t kMaxBlocks = 64;  // older measurements are dropped

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

// Returns the title and the key of a block.
std::string head_of(const std::string& block) {
  const std::size_t title_end = block.find('\n');
  return block.substr(0, title_end == std::string::npos ? title_end : block.find('\n', title_end + 1));
}

// Returns the first of the file's blocks that `parse` accepts. If it throws, the values are measured again, and rank 0
// logs the reason.
template <typename Parse>
auto find(const std::string& text, const std::string& file, bool is_root, const Parse& parse) -> decltype(parse(text)) {
  try {
    for (const std::string& block : blocks_of(text))
      if (auto found = parse(block)) return found;
  } catch (const Error& error) {
    if (is_root) log_warning(fmt::format("{} cannot be used: {}. Its values are measured again", file, error.what()));
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

/// Tells the user on rank 0 what is being measured, and at the end how far its repetitions differ. Prints nothing if
/// the costs are not kept in a file.
class Announcement {
 public:
  Announcement(const CalibrationSpec& spec, const std::string& what, const mpi::Communicator& world)
      : file_(spec.file), speaks_(world.rank() == 0 && !spec.file.empty()) {
    if (speaks_)
      line_.line(fmt::format(
          "measuring the speed of {} on {}, only at the first start in this run directory: later starts read {}", what,
          world.size() == 1 ? "this rank" : "these ranks", file_));
  }

  void show(std::int64_t done, std::int64_t total) {
    if (!speaks_ || !line_.is_due()) return;
    line_.show("measuring", static_cast<double>(done) / static_cast<double>(total),
               fmt::format("{}/{} cells", done, total));
  }

  void end(double spread) {
    if (!speaks_) return;
    std::string text = fmt::format("measured in {}", human_seconds(now_seconds() - begin_seconds_));
    if (spread > kMaxSpread)
      text += fmt::format(
          "; repetitions differ by {:.0f} %, probably because other programs use these processors: predicted step "
          "times may be wrong by as much. To measure again at the next start, remove {}",
          100 * spread, file_);
    line_.line(text);
  }

 private:
  static constexpr double kMaxSpread = 0.15;

  std::string file_;
  bool speaks_;
  double begin_seconds_ = now_seconds();
  ProgressLine line_;
};

/// One measurement of all cells.
struct CellPass {
  CellCosts costs;
  double spread = 0;  ///< largest spread of a part's repetitions

  double total_seconds() const {
    double seconds = 0;
    for (const CellCost& cell : costs.cells)
      for (double CellCost::*part : kCellCostParts) seconds += cell.*part;
    return seconds;
  }
};

/// Measures all cells before other measurements, and again after them until two passes agree: a disturbance that lasts
/// as long as a pass does not show in the spread of its repetitions. Passes that take long are made once, because a
/// brief disturbance cannot affect all of them.
class CellPasses {
 public:
  CellPasses(const CalibrationSpec& spec, const mpi::Communicator& world, ops::Backend& backend,
             Announcement& announcement)
      : spec_(spec), world_(world), backend_(backend), announcement_(announcement) {}

  void begin() {
    const double begin = now_seconds();
    measure();
    is_brief_ = slowest(world_, now_seconds() - begin) < kBriefSeconds;
  }

  CellPass end() {
    while (is_brief_ && std::ssize(passes_) < kMaxPasses && disagreement() > kMaxDisagreement) measure();
    CellPass best = *std::ranges::min_element(passes_, {}, &CellPass::total_seconds);
    if (passes_.size() > 1) best.spread = std::max(best.spread, disagreement());
    return best;
  }

 private:
  static constexpr double kBriefSeconds = 3, kMaxDisagreement = 0.1;
  static constexpr std::ptrdiff_t kMaxPasses = 3;

  void measure() {
    CellPass pass;
    pass.costs = measure_cell_costs(spec_.network, spec_.node, world_, backend_,
                                    [&](std::int64_t done, std::int64_t total, double spread) {
                                      pass.spread = spread;
                                      announcement_.show(done, total);
                                    });
    passes_.push_back(std::move(pass));
  }

  double disagreement() const {
    std::vector<double> seconds;
    for (const CellPass& pass : passes_) seconds.push_back(pass.total_seconds());
    return disagreement_of_fastest(std::move(seconds));
  }

  const CalibrationSpec& spec_;
  const mpi::Communicator& world_;
  ops::Backend& backend_;
  Announcement& announcement_;
  bool is_brief_ = true;
  std::vector<CellPass> passes_;
};

}  // namespace

std::string costs_path(const RunParams& run) {
  return run.directory + "/costs.txt";
}

CalibrationSpec calibration_spec(const NetworkSpec& network, const RunParams& run, const mpi::Communicator& world,
                                 ops::Backend& backend) {
  const bool on_host = backend.device().is_host();
  return {.network = network,
          .file = costs_path(run),
          .engines_file = engines_path(run),
          .node = on_host ? find_node_load(world, threads_per_rank(run.threads, world)) : find_gpu_node_load(world)};
}

MachineCosts find_machine_costs(const CalibrationSpec& spec, const mpi::Communicator& world, ops::Backend& backend) {
  std::string text;
  mpi::on_root(world, [&] { text = io::read_text(spec.file).value_or(""); });
  text = world.broadcast(text, 0);
  const Network network = make_network(spec.network);
  const RatesSpec rates{.message_bytes = largest_boundary(network), .arena_bytes = arena_bytes(network)};
  // All ranks use the root's keys: nodes may differ in their processors, but all ranks must find or measure the same.
  const std::string cells_key = world.broadcast(costs_key(spec.network, backend, world.size(), spec.node), 0);
  const std::string rates_key_of_root = world.broadcast(rates_key(rates, backend, world.size(), spec.node), 0);
  const auto cells_found = find(text, spec.file, world.rank() == 0, [&](const std::string& block) {
    return CellCosts::parse(block, cells_key, network.size());
  });
  const auto rates_found = find(text, spec.file, world.rank() == 0, [&](const std::string& block) {
    return MachineRates::parse(block, rates_key_of_root);
  });
  if (cells_found && rates_found) return {.cells = *cells_found, .rates = *rates_found, .node = spec.node};
  MachineCosts costs{.node = spec.node};
  Announcement announcement(spec,
                            cells_found   ? "messages and memory"
                            : rates_found ? "cells"
                                          : "cells, messages and memory",
                            world);
  CellPasses passes(spec, world, backend, announcement);
  if (!cells_found) {
    share_engines(network, world, spec.engines_file, backend);
    passes.begin();
  }
  costs.rates = rates_found ? *rates_found : measure_rates(rates, spec.node, world, backend);
  const CellPass cells = cells_found ? CellPass{.costs = *cells_found} : passes.end();
  announcement.end(cells.spread);
  costs.cells = cells.costs;
  costs.cells.key = cells_key;
  costs.rates.key = rates_key_of_root;
  return costs;
}

std::optional<MachineCosts> find_kept_costs(const CalibrationSpec& spec, std::int64_t ranks, ops::Backend& backend) {
  const std::string text = io::read_text(spec.file).value_or("");
  const Network network = make_network(spec.network);
  const RatesSpec rates{.message_bytes = largest_boundary(network), .arena_bytes = arena_bytes(network)};
  const auto cells_found = find(text, spec.file, true, [&](const std::string& block) {
    return CellCosts::parse(block, costs_key(spec.network, backend, ranks, spec.node), network.size());
  });
  const auto rates_found = find(text, spec.file, true, [&](const std::string& block) {
    return MachineRates::parse(block, rates_key(rates, backend, ranks, spec.node));
  });
  if (!cells_found || !rates_found) return std::nullopt;
  return MachineCosts{.cells = *cells_found, .rates = *rates_found, .node = spec.node};
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
  if (kept.size() > kMaxBlocks) kept.erase(kept.begin(), kept.end() - kMaxBlocks);
  return fmt::format("{}", fmt::join(kept, "\n"));
}

void keep_costs(const std::string& file, const MachineCosts& costs) {
  const std::string before = io::read_text(file).value_or(""), after = with_costs(before, costs);
  if (after != before) io::write_text_atomically(file, after);
}

}  // namespace convoy
