/// One cell at a time in memory of its own, against the clock.
#include "train/cell_costs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <sstream>

#include "convoy/base/clock.h"
#include "convoy/model/partition.h"

namespace convoy {

namespace {

constexpr const char* kTitle = "convoy cell costs 1";
constexpr std::int64_t kFloatBytes = size_of(DataType::kFloat32);

// Whoever else uses the machine disturbs a part of the calls: the parts of a cell are called in turn, and of each the
// least counts. The first round is slower, for code and memory that are met first.
constexpr int kMostRounds = 6;
constexpr double kEnoughSeconds = 0.2;  // after so long no more rounds are made

// What decides how long a cell takes.
std::string signature(const Cell& cell) {
  std::string text = fmt::format("{} {} {} {}", to_string(cell.x()), to_string(cell.y()),
                                 cell.memory().saved_size_bytes(), cell.is_frozen());
  for (const CellMemory::Entry& entry : cell.memory().parameters())
    text += fmt::format(" {}:{}", static_cast<int>(entry.spec.kind), fmt::join(entry.spec.dims, "x"));
  return text;
}

/// A cell with memory of its own, whose parts can be called one by one.
class LoneCell {
 public:
  LoneCell(Cell& cell, bool is_first, ops::Library& library)
      : cell_(cell),
        library_(library),
        parameters_(floats(cell.memory().arena_count())),
        copies_(library.device(), cell.memory().arena_count() * size_of(cell.memory().type())),
        gradients_(floats(cell.memory().arena_count())),
        saved_(library.device(), cell.memory().saved_size_bytes()),
        noted_(library.device(), cell.memory().noted_size_bytes()),
        kept_(library.device(), cell.memory().kept_size_bytes()),
        scratch_(library.device(), cell.memory().scratch_size_bytes()),
        x_(library.device(), cell.x_bytes()),
        y_(library.device(), cell.y_bytes()),
        dy_(library.device(), cell.dy_bytes()),
        dx_(library.device(), is_first ? 0 : cell.x_bytes()) {
    const DataType type = cell.memory().type();
    cell.plan(library);
    fill(DataType::kFloat32, parameters_, cell.memory().arena_count());
    fill(type, copies_, cell.memory().arena_count());
    fill(type, x_, cell.x().count());
    fill(type, dy_, cell.y().count());
    cell.load_weights({.data = copies_.data(), .type = type});
  }

  CellCost measure() {
    CellCost least = measure_once();
    double all_seconds = 0;
    for (int i = 0; i < kMostRounds && (i == 0 || all_seconds < kEnoughSeconds); ++i) {
      const CellCost cost = measure_once();
      all_seconds += cost.forward_seconds + cost.recompute_seconds + cost.backward_seconds +
                     cost.backward_input_seconds + cost.backward_weight_seconds;
      least = i == 0 ? cost : smaller(least, cost);
    }
    return least;
  }

 private:
  Buffer floats(std::int64_t count) const { return {library_.device(), count * kFloatBytes}; }

  // Any numbers but zeros, which some engines are faster with; positive, as variances are.
  void fill(DataType type, const Buffer& to, std::int64_t count) const {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.001f * static_cast<float>(i * 37 % 101 + 1);
    const Buffer rounded = floats(count);
    library_.device().copy_to_device(rounded.data(), values.data(), count * kFloatBytes);
    library_.elementwise().round_to(type, rounded.floats(), to.data(), count);
    library_.device().synchronize();
  }

  // dy is consumed, so that after the first call it is another one: its values do not matter.
  void backward(const Frame& frame) const { cell_.backward(frame, x_.data(), y_.data(), dy_.data(), dx_.data()); }

  CellCost measure_once() const {
    CellCost cost;
    Frame frame{.saved = saved_.data(),
                .noted = noted_.data(),
                .scratch = scratch_.data(),
                .parameters = parameters_.floats(),
                .weights = {.data = copies_.data(), .type = cell_.memory().type()},
                .training = !cell_.is_frozen()};
    cost.forward_seconds = seconds_of([&] { cell_.forward(frame, x_.data(), y_.data()); });
    cost.recompute_seconds = seconds_of([&] { cell_.recompute(frame, x_.data()); });
    if (cell_.is_frozen()) {
      cost.backward_seconds = cost.backward_input_seconds = seconds_of([&] { backward(frame); });
      return cost;
    }
    frame.gradients = gradients_.floats();
    cost.backward_seconds = seconds_of([&] { backward(frame); });
    frame.kept = kept_.data();
    frame.gradients = nullptr;
    cost.backward_input_seconds = seconds_of([&] { backward(frame); });
    frame.gradients = gradients_.floats();
    cost.backward_weight_seconds = seconds_of([&] { cell_.backward_weight(frame, x_.data()); });
    return cost;
  }

  static CellCost smaller(const CellCost& a, const CellCost& b) {
    return {.forward_seconds = std::min(a.forward_seconds, b.forward_seconds),
            .backward_seconds = std::min(a.backward_seconds, b.backward_seconds),
            .backward_input_seconds = std::min(a.backward_input_seconds, b.backward_input_seconds),
            .backward_weight_seconds = std::min(a.backward_weight_seconds, b.backward_weight_seconds),
            .recompute_seconds = std::min(a.recompute_seconds, b.recompute_seconds)};
  }

  double seconds_of(const std::function<void()>& issue) const {
    const double begin = now_seconds();
    issue();
    library_.device().synchronize();
    return now_seconds() - begin;
  }

  Cell& cell_;
  ops::Library& library_;
  Buffer parameters_, copies_, gradients_, saved_, noted_, kept_, scratch_, x_, y_, dy_, dx_;
};

// In whole nanoseconds, as that of all ranks that took longest.
double slowest(const mpi::Communicator& world, double seconds) {
  return static_cast<double>(world.max(std::llround(seconds * 1e9))) * 1e-9;
}

}  // namespace

std::string CellCosts::serialise() const {
  std::string text = fmt::format("{}\n{}\n# seconds: forward, backward, by input, by weight, recompute\n", kTitle, key);
  for (const CellCost& c : cells)
    text += fmt::format("{} {} {} {} {}\n", c.forward_seconds, c.backward_seconds, c.backward_input_seconds,
                        c.backward_weight_seconds, c.recompute_seconds);
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
    CellCost c;
    numbers >> c.forward_seconds >> c.backward_seconds >> c.backward_input_seconds >> c.backward_weight_seconds >>
        c.recompute_seconds;
    if (numbers.fail() || std::min({c.forward_seconds, c.backward_seconds, c.backward_input_seconds,
                                    c.backward_weight_seconds, c.recompute_seconds}) < 0)
      return std::nullopt;
    costs.cells.push_back(c);
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

CellCosts measure_cell_costs(const NetworkSpec& spec, const mpi::Communicator& world, ops::Library& library) {
  const Network network = make_network(spec);
  CellCosts costs{.key = costs_key(spec, library, world.size()), .cells = {}};
  std::map<std::string, CellCost> known;
  for (std::size_t i = 0; i < network.size(); ++i) {
    const auto [place, is_new] = known.try_emplace(signature(*network[i]));
    if (is_new) {
      LoneCell cell(*network[i], i == 0, library);
      world.barrier();
      const CellCost mine = cell.measure();
      place->second = {.forward_seconds = slowest(world, mine.forward_seconds),
                       .backward_seconds = slowest(world, mine.backward_seconds),
                       .backward_input_seconds = slowest(world, mine.backward_input_seconds),
                       .backward_weight_seconds = slowest(world, mine.backward_weight_seconds),
                       .recompute_seconds = slowest(world, mine.recompute_seconds)};
    }
    costs.cells.push_back(place->second);
  }
  return costs;
}

}  // namespace convoy
