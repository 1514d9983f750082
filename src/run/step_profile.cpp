/// From a recorder on each rank to one table on rank 0.
#include "run/step_profile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/io/atomic_file.h"

#include "calibrate/product_rate.h"

namespace convoy {

namespace {

/// What a rank tells of a layer's work, all its calls together.
struct LayerSum {
  std::int64_t stage = 0, cell = 0, layer = 0, work = 0, calls = 0;
  double seconds = 0, flop = 0;
};

/// Sums over what has the same stage, cell, layer and work, in that order.
class Sums {
 public:
  void add(const LayerSum& more) {
    LayerSum& sum = sums_[{more.stage, more.cell, more.layer, more.work}];
    const LayerSum before = sum;
    sum = more;
    sum.calls += before.calls;
    sum.seconds += before.seconds;
    sum.flop += before.flop;
  }
  std::vector<LayerSum> all() const {
    std::vector<LayerSum> all;
    for (const auto& [key, sum] : sums_) all.push_back(sum);
    return all;
  }

 private:
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, LayerSum> sums_;
};

Sums sums_of(const std::vector<LayerTime>& times, const Network& network, std::int64_t stage) {
  std::map<const Cell*, std::int64_t> numbers;
  for (std::int64_t i = 0; i < std::ssize(network); ++i) numbers[network[i].get()] = i;
  Sums sums;
  for (const LayerTime& time : times) {
    const LayerInfo layer = time.cell->layers()[time.layer];
    sums.add({.stage = stage,
              .cell = numbers.at(time.cell),
              .layer = static_cast<std::int64_t>(time.layer),
              .work = static_cast<std::int64_t>(time.work),
              .calls = 1,
              .seconds = time.seconds,
              .flop = (time.is_split ? layer.split_flop : layer.flop).of(time.work)});
  }
  return sums;
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

constexpr double kMinPercent = 0.05;  // of the time: what is less is not shown

/// Of a layer with products, "173 GFLOP/s", and how near that comes to the yardstick.
std::string shown_rate(double flop, double seconds, const Profile& profile) {
  if (flop == 0 || seconds == 0) return "";
  const double rate = flop / seconds;
  std::string text = fmt::format("{:>9.0f} GFLOP/s", rate * 1e-9);
  if (profile.product_flop_a_second > 0) text += fmt::format(" {:>4.0f} %", percent(rate, profile.product_flop_a_second));
  return text;
}

/// Several rows in one line.
struct Line {
  std::string operation;
  LayerWork work = LayerWork::kForward;
  double seconds = 0, flop = 0;
};

// The longest first.
std::vector<Line> lines_of(const Profile& profile) {
  std::map<std::pair<std::string, LayerWork>, Line> sums;
  for (const ProfileRow& row : profile.rows) {
    Line& line = sums[{row.layer.operation, row.work}];
    line.operation = row.layer.operation;
    line.work = row.work;
    line.seconds += row.seconds;
    line.flop += row.flop;
  }
  std::vector<Line> lines;
  for (const auto& [key, line] : sums) lines.push_back(line);
  std::ranges::stable_sort(lines, std::greater(), &Line::seconds);
  return lines;
}

}  // namespace

std::string to_csv(const Profile& profile) {
  std::string text =
      "stage,cell,operation,name,weight_shape,x,y,work,calls,milliseconds,share_percent,gflop,gflop_per_second,"
      "percent_of_product\n";
  for (const ProfileRow& row : profile.rows) {
    const double rate = row.seconds > 0 ? row.flop / row.seconds : 0;
    text += fmt::format("{},{},{},{},{},{},{},{},{:g},{:.4f},{:.2f},{:.4f},{:.1f},{:.1f}\n", row.stage, row.cell,
                        row.layer.operation, row.layer.name, row.layer.weight_shape, to_string(row.layer.x),
                        to_string(row.layer.y), name_of(row.work), row.calls, 1e3 * row.seconds,
                        percent(row.seconds, profile.step_seconds), 1e-9 * row.flop, 1e-9 * rate,
                        percent(rate, profile.product_flop_a_second));
  }
  return text;
}

std::string summary_of(const Profile& profile) {
  const double whole = profile.step_seconds * static_cast<double>(profile.num_stages);
  double layers = 0;
  std::string text =
      fmt::format("profile of steps {} to {}, {:.4g} ms each: of the ranks' time", profile.first_step,
                  profile.first_step + profile.num_steps - 1, 1e3 * profile.step_seconds);
  const auto add = [&](const std::string& what, const char* work, double seconds, const std::string& rate) {
    if (percent(seconds, whole) >= kMinPercent)
      text += fmt::format("\n  {:<30} {:<16} {:>5.1f} %{}", what, work, percent(seconds, whole), rate);
  };
  for (const Line& line : lines_of(profile)) {
    add(line.operation, name_of(line.work), line.seconds, shown_rate(line.flop, line.seconds, profile));
    layers += line.seconds;
  }
  add("outside of layers", "", std::max(0.0, whole - layers), "");
  if (profile.product_flop_a_second > 0)
    text += fmt::format("\n  percentages after GFLOP/s: of a large matrix product's on a rank, {:.0f} GFLOP/s",
                        1e-9 * profile.product_flop_a_second);
  return text;
}

StepProfile::StepProfile(RankRuntime& runtime, const TraceWindow& window)
    : runtime_(runtime), window_(window), recorder_(runtime.device()) {}

// The step before the first tells how many calls there are.
void StepProfile::begin_step(std::int64_t step) {
  if (num_made_ < window_.first - 1 || is_complete()) return;
  if (num_made_ == window_.first) {
    recorder_.start(window_.num);
    first_step_ = step;
  }
  watch(&recorder_);
}

void StepProfile::end_step(double seconds) {
  watch(nullptr);
  if (num_made_ >= window_.first && !is_complete()) {
    ++num_steps_;
    seconds_ += seconds;
  }
  ++num_made_;
}

// On rank 0; elsewhere nothing.
std::vector<ProfileRow> StepProfile::gather_rows() {
  const StepPlan& plan = runtime_.plan();
  const ProcessGrid& grid = runtime_.grid();
  const std::vector<LayerSum> mine = sums_of(recorder_.read(), plan.network(), grid.stage()).all();
  const std::vector<std::byte> all = grid.world().gather(std::as_bytes(std::span(mine)), 0);
  const auto* received = reinterpret_cast<const LayerSum*>(all.data());
  Sums sums;
  for (std::size_t i = 0; i < all.size() / sizeof(LayerSum); ++i) sums.add(received[i]);
  const double parts = static_cast<double>(num_steps_ * grid.num_replicas());
  std::vector<ProfileRow> rows;
  for (const LayerSum& sum : sums.all()) {
    const Cell& cell = *plan.network()[sum.cell];
    rows.push_back({.stage = sum.stage,
                    .cell = cell.name(),
                    .layer = cell.layers()[static_cast<std::size_t>(sum.layer)],
                    .work = LayerWork{static_cast<int>(sum.work)},
                    .calls = static_cast<double>(sum.calls) / parts,
                    .seconds = sum.seconds / parts,
                    .flop = sum.flop / parts});
  }
  return rows;
}

// All ranks measure at the same time, as they compute in a step; 0 where one could not.
double StepProfile::slowest_product() const {
  const mpi::Communicator& world = runtime_.grid().world();
  world.barrier();
  double mine = 0;
  try {
    mine = measure_product_rate(runtime_.operations(), runtime_.plan().spec().network.type);
  } catch (const Error& error) {
    log_warning(fmt::format("run.profile: no product to compare layers with: {}", error.what()));
  }
  return static_cast<double>(-world.max(-std::llround(mine)));
}

std::string StepProfile::write(const std::string& directory) {
  if (num_steps_ == 0)
    return runtime_.grid().is_root() ? "run.profile: this run ended before a step that could be measured" : "";
  Profile profile{.first_step = first_step_,
                  .num_steps = num_steps_,
                  .num_stages = runtime_.grid().num_stages(),
                  .step_seconds = seconds_ / static_cast<double>(num_steps_),
                  .product_flop_a_second = slowest_product(),
                  .rows = gather_rows()};
  if (!runtime_.grid().is_root()) return "";
  const std::string path = directory + "/profile.csv";
  try {
    io::write_text_atomically(path, to_csv(profile));
  } catch (const Error& error) {
    log_warning(fmt::format("run.profile: {}; the training continues", error.what()));
  }
  return fmt::format("{}\n  each layer: {}", summary_of(profile), path);
}

}  // namespace convoy
