/// A micro-batch goes through a stage that is made for the measurement, and the device's stopwatch is marked between
/// cells: each cell finds the caches as warm or as cold as in a step.
#include "calibrate/measure_cell_costs.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "convoy/base/clock.h"
#include "convoy/base/median.h"

#include "calibrate/measure.h"
#include "step/stage.h"

namespace convoy {

namespace {

// Neighbouring cells are measured together in windows of up to this many bytes, far more than caches hold.
constexpr std::int64_t kWindowBytes = std::int64_t{1} << 28;

constexpr FrameId kFirstFrame{};

constexpr int kMinRounds = 2, kMaxRounds = 9;
constexpr double kEnoughSeconds = 0.5;  // after this time no more rounds of a window are made
constexpr double kMaxSpread = 0.1;      // rounds of a window that differ by more were disturbed

// Returns a text of all that decides how long a cell takes. `has_backward`: whether a gradient reaches the cell.
std::string signature(const Cell& cell, bool has_backward) {
  const CellMemory& memory = cell.memory();
  std::string text = fmt::format("{} {} {} {} {} {}", to_string(cell.x().shape), to_string(cell.y().shape),
                                 memory.activation_bytes(), memory.forward_flop(), cell.is_frozen(), has_backward);
  for (const CellMemory::Entry& entry : memory.parameters())
    text += fmt::format(" {}", fmt::join(entry.spec.dims, "x"));
  return text;
}

// Returns the size of the cell's weights and activations of one micro-batch, each with their gradients.
std::int64_t bytes_of(const Cell& cell) {
  const CellMemory& memory = cell.memory();
  return 4 * memory.arena_count() * kFloatBytes + memory.activation_bytes() + memory.weight_gradient_input_bytes() +
         memory.statistic_bytes() + memory.scratch_bytes() + 2 * cell.x().bytes();
}

std::vector<CellRange> windows_of(const Network& network) {
  std::vector<CellRange> windows;
  std::int64_t bytes = 0;
  for (std::int64_t i = 0; i < std::ssize(network); ++i) {
    bytes += bytes_of(*network[i]);
    if (windows.empty() || bytes > kWindowBytes) {
      windows.push_back({i, i});
      bytes = bytes_of(*network[i]);
    }
    windows.back().end = i + 1;
  }
  return windows;
}

/// Fills a feature with many different words, and with the greatest possible length of texts, because no plan knows how
/// long they will be.
void fill_feature(ops::Backend& backend, const Feature& feature, void* to) {
  if (feature.spec.type != DataType::kInt32) return fill(backend, feature.spec.type, to, feature.spec.shape.count());
  std::vector<std::int32_t> values(static_cast<std::size_t>(feature.spec.shape.count()));
  const std::int64_t last = feature.num_values - 1, step = feature.name.ends_with(features::kLength) ? 0 : 37;
  for (std::int64_t i = 0; i < std::ssize(values); ++i)
    values[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(last - i * step % feature.num_values);
  backend.device().copy_to_device(to, values.data(), feature.spec.bytes());
}

/// A stage with the cells of a window and one micro-batch.
class Lap {
 public:
  Lap(const NetworkSpec& spec, const CellRange& cells, bool recomputes, ops::Backend& backend)
      : network_(make_network(spec)),
        cells_(cells),
        backend_(backend),
        stage_(backend, network_,
               plan_stage(network_, {.runs = {cells},
                                     .recomputed = std::vector<bool>(network_.size(), recomputes),
                                     .splits_backward = true})),
        gradients_(backend.device(), stage_.plan().layout.count * kFloatBytes),
        dy_(backend.device(), stage_.last_cell().dy().bytes()),
        stopwatch_(backend.device().make_stopwatch(2 * cells.size() + 1)) {
    for (const ArenaEntry& entry : stage_.plan().layout.entries) {
      const std::vector<float> values = initial_values(entry.spec, {.seed = 1});
      backend.device().copy_to_device(stage_.parameters().masters + entry.offset, values.data(),
                                      std::ssize(values) * kFloatBytes);
    }
    stage_.reload_weights();
    if (cells.begin > 0) fill(backend, spec.type, stage_.input(kFirstFrame), stage_.first_cell().x().shape.count());
    stage_.for_each_feature(kFirstFrame, [&](const Feature& feature, void* to) { fill_feature(backend, feature, to); });
    fill(backend, stage_.last_cell().dy().type, dy_.data(), stage_.last_cell().dy().shape.count());
  }

  // These functions return seconds by cell. Those of backward run from the last cell to the first trained one.
  std::vector<double> forward(bool training = true) {
    return timed([&](const ProgressHook& mark) { stage_.forward(kFirstFrame, training, mark); });
  }
  std::vector<double> load_weights() {
    return timed([&](const ProgressHook& mark) {
      for (std::int64_t number = cells_.begin; number < cells_.end; ++number) {
        stage_.load_weights(0, {number, number + 1});
        mark();
      }
    });
  }
  // Stage::backward gives two times for each cell that is recomputed. Stage::backward_weight gives none for frozen
  // cells.
  std::vector<double> backward(void (Stage::*part)(const Stage::BackwardPiece&, const ProgressHook&) const) {
    const Stage::BackwardPiece piece = all();
    return timed([&](const ProgressHook& mark) { (stage_.*part)(piece, mark); });
  }

 private:
  // Prepares a backward of all cells. The output's gradient is written again, because the last backward has consumed
  // it.
  Stage::BackwardPiece all() const {
    const ChunkPlan& chunk = stage_.plan().chunks.front();
    const Stage::BackwardPiece piece{
        .frame = kFirstFrame,
        .cells = cells_,
        .dy = chunk.is_last ? stage_.output_gradient(kFirstFrame) : stage_.gradient_in(0, 0),
        .dx = chunk.is_first ? nullptr : stage_.gradient_out(0, 0),
        .gradients = gradients_.floats()};
    const TensorSpec dy = stage_.last_cell().dy();
    backend_.elementwise().add(dy.type, dy_.data(), dy_.data(), piece.dy, dy.shape.count());
    return piece;
  }

  std::vector<double> timed(const std::function<void(const ProgressHook& mark)>& work) {
    std::int64_t num_marks = 0;
    const auto mark = [&] { stopwatch_->mark(num_marks++); };
    mark();
    work(mark);
    std::vector<double> seconds = stopwatch_->read(num_marks);
    for (std::size_t i = 0; i + 1 < seconds.size(); ++i) seconds[i] = seconds[i + 1] - seconds[i];
    seconds.pop_back();
    return seconds;
  }

  Network network_;
  CellRange cells_;
  ops::Backend& backend_;
  Stage stage_;
  Buffer gradients_, dy_;
  std::unique_ptr<Stopwatch> stopwatch_;
};

/// Two stages with the same cells, one of which recomputes them.
class Window {
 public:
  Window(const NetworkSpec& spec, const Network& network, const CellRange& cells, ops::Backend& backend)
      : network_(network),
        cells_(cells),
        plain_(spec, cells, /*recomputes=*/false, backend),
        recomputing_(spec, cells, /*recomputes=*/true, backend) {}

  /// Measures all parts once. Returns the costs by cell.
  std::vector<CellCost> measure_once() {
    std::vector<CellCost> costs(static_cast<std::size_t>(cells_.size()));
    const std::vector<double> forward = plain_.forward(), backward = plain_.backward(&Stage::backward);
    plain_.forward();
    const std::vector<double> data_gradient = plain_.backward(&Stage::backward_input);
    const std::vector<double> weight_gradient = plain_.backward(&Stage::backward_weight);
    const std::vector<double> evaluation = plain_.forward(/*training=*/false);
    const std::vector<double> load_weights = plain_.load_weights();
    recomputing_.forward();  // this uses other memory, so that of plain_ is cold again in the next round
    const std::vector<double> again = recomputing_.backward(&Stage::backward);
    for (std::size_t i = 0; i < forward.size(); ++i) {
      costs[i].forward_seconds = forward[i];
      costs[i].evaluation_seconds = evaluation[i];
      costs[i].load_weights_seconds = load_weights[i];
    }
    std::size_t num_frozen = 0;
    for (std::size_t k = 0; k < backward.size(); ++k) {
      const std::size_t i = costs.size() - 1 - k;
      costs[i].backward_seconds = backward[k];
      costs[i].backward_input_seconds = data_gradient[k];
      costs[i].recompute_seconds = again[2 * k];
      if (network_[cells_.begin + static_cast<std::int64_t>(i)]->is_frozen()) {
        ++num_frozen;
      } else {
        costs[i].backward_weight_seconds = weight_gradient[k - num_frozen];
      }
    }
    return costs;
  }

 private:
  const Network& network_;
  CellRange cells_;
  Lap plain_, recomputing_;
};

using Samples = std::vector<CellCost>;
using Round = std::vector<CellCost>;  ///< the costs of a window's cells

double seconds_of(const Round& round) {
  double seconds = 0;
  for (const CellCost& cost : round)
    for (double CellCost::*part : kCellCostParts) seconds += cost.*part;
  return seconds;
}

std::vector<Round> measure_rounds(Window& window) {
  window.measure_once();  // the first use of code and memory is slower
  std::vector<Round> rounds;
  const double begin = now_seconds();
  while (std::ssize(rounds) < kMinRounds || (std::ssize(rounds) < kMaxRounds && now_seconds() - begin < kEnoughSeconds))
    rounds.push_back(window.measure_once());
  return rounds;
}

Repetitions judge(const std::vector<Round>& rounds) {
  std::vector<double> seconds;
  for (const Round& round : rounds) seconds.push_back(std::max(seconds_of(round), kMinSeconds));
  return judge_repetitions(seconds);
}

double median_of(const Samples& samples, double CellCost::*part) {
  std::vector<double> seconds;
  for (const CellCost& sample : samples) seconds.push_back(sample.*part);
  return median(std::move(seconds));
}

}  // namespace

CellCosts measure_cell_costs(const NetworkSpec& spec, const NodeLoad& node, const mpi::Communicator& world,
                             ops::Backend& backend, const MeasuringListener& listener) {
  const Network network = make_network(spec);
  std::map<std::string, Samples> samples;
  std::vector<Samples*> samples_of_cells;
  bool has_backward = false;
  for (const auto& cell : network) {
    has_backward = has_backward || !cell->is_frozen();
    samples_of_cells.push_back(&samples[signature(*cell, has_backward)]);
  }
  double spread = 0;
  for (const CellRange& cells : windows_of(network)) {
    Window window(spec, network, cells, backend);
    std::vector<std::vector<Round>> attempts;
    const Steadiest best = measure_together(world, node, /*in_pairs=*/false, kMaxSpread,
                                            [&] { return judge(attempts.emplace_back(measure_rounds(window))); });
    for (const Round& round : attempts[best.attempt])
      for (std::size_t i = 0; i < round.size(); ++i) samples_of_cells[cells.begin + i]->push_back(round[i]);
    spread = std::max(spread, best.repetitions.spread);
    if (listener) listener(cells.end, std::ssize(network), spread);
  }
  std::map<const Samples*, CellCost> medians;
  for (const auto& [cell, of_cell] : samples)
    for (double CellCost::*part : kCellCostParts) medians[&of_cell].*part = slowest(world, median_of(of_cell, part));
  CellCosts costs;
  for (const Samples* of_cell : samples_of_cells) costs.cells.push_back(medians.at(of_cell));
  return costs;
}

}  // namespace convoy
