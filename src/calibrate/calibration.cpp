/// The file of costs consists of blocks of lines, separated by empty lines. A block's second line is the key of its
/// measurement.
#include "calibrate/calibration.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

#include "calibrate/measure.h"
#include "calibrate/measure_cell_costs.h"
#include "plan/step_plan.h"
#include "step/share_engines.h"

namespace convoy {

namespace {

// Returns the last part of the keys: "4 ranks at once", or "2 of 4 ranks at once on a node, 8 in all".
std::string describe_ranks(std::int64_t ranks, const NodeLoad& node) {
  if (!node.is_shared()) return fmt::format("{} ranks at once", ranks);
  return fmt::format("{:g} of {} ranks at once on a node, {} in all", node.ranks_at_once, node.ranks, ranks);
}

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

RatesSpec rates_spec(const Network& network) {
  RatesSpec spec;
  for (std::size_t i = 0; i < network.size(); ++i) {
    if (i > 0) spec.message_bytes = std::max(spec.message_bytes, network[i]->x().bytes());
    spec.arena_bytes += network[i]->memory().arena_count() * kFloatBytes;
  }
  return spec;
}

// The keys of both parts of the costs.
struct Keys {
  std::string cells, rates;
};

Keys keys_of(const CalibrationSpec& spec, const Network& network, std::int64_t ranks, ops::Backend& backend) {
  return {.cells = costs_key(spec.network, backend, ranks, spec.node),
          .rates = rates_key(rates_spec(network), backend, ranks, spec.node)};
}

// The parts of the costs that a file holds.
struct FoundCosts {
  std::optional<CellCosts> cells;
  std::optional<MachineRates> rates;

  bool are_complete() const { return cells && rates; }
};

// Finds the costs in a file's text. The values of a damaged block are measured again, and rank 0 logs the reason.
FoundCosts find_costs(const std::string& text, const std::string& file, bool is_root, const Keys& keys,
                      std::size_t num_cells) {
  FoundCosts found;
  for (const std::string& block : blocks_of(text)) {
    try {
      if (!found.cells) found.cells = CellCosts::parse(block, keys.cells, num_cells);
      if (!found.rates) found.rates = MachineRates::parse(block, keys.rates);
    } catch (const Error& error) {
      if (is_root) log_warning(fmt::format("{} cannot be used: {}. Its values are measured again", file, error.what()));
    }
  }
  return found;
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

std::string costs_key(const NetworkSpec& network, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node) {
  return fmt::format("{} {:016x} on {} for {} classes, micro-batch {}, {}, frozen [{}]; {}; {}", network.name,
                     hash_of(network), to_string(network.input), network.num_classes, network.micro_batch,
                     to_string(network.type), fmt::join(network.freeze, ", "), backend.device().description(),
                     describe_ranks(ranks, node));
}

std::string rates_key(const RatesSpec& spec, ops::Backend& backend, std::int64_t ranks, const NodeLoad& node) {
  return fmt::format("messages of {} bytes, arenas of {}; {}; {}, {} on a node", spec.message_bytes, spec.arena_bytes,
                     backend.device().description(), describe_ranks(ranks, node), node.ranks);
}

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
  // All ranks use the root's keys: nodes may differ in their processors, but all ranks must find or measure the same.
  Keys keys = keys_of(spec, network, world.size(), backend);
  for (std::string* key : {&keys.cells, &keys.rates}) *key = world.broadcast(*key, 0);
  const FoundCosts found = find_costs(text, spec.file, world.rank() == 0, keys, network.size());
  if (found.are_complete()) return {.cells = *found.cells, .rates = *found.rates, .node = spec.node};
  MachineCosts costs{.node = spec.node};
  Announcement announcement(spec,
                            found.cells   ? "messages and memory"
                            : found.rates ? "cells"
                                          : "cells, messages and memory",
                            world);
  CellPasses passes(spec, world, backend, announcement);
  if (!found.cells) {
    share_engines(network, world, spec.engines_file, backend);
    passes.begin();
  }
  costs.rates = found.rates ? *found.rates : measure_rates(rates_spec(network), spec.node, world, backend);
  const CellPass cells = found.cells ? CellPass{.costs = *found.cells} : passes.end();
  announcement.end(cells.spread);
  costs.cells = cells.costs;
  costs.cells.key = keys.cells;
  costs.rates.key = keys.rates;
  return costs;
}

std::optional<MachineCosts> find_kept_costs(const CalibrationSpec& spec, std::int64_t ranks, ops::Backend& backend) {
  const Network network = make_network(spec.network);
  const FoundCosts found = find_costs(io::read_text(spec.file).value_or(""), spec.file, true,
                                      keys_of(spec, network, ranks, backend), network.size());
  if (!found.are_complete()) return std::nullopt;
  return MachineCosts{.cells = *found.cells, .rates = *found.rates, .node = spec.node};
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
