/// Merges two timers of each rank, of layers and of instructions, into one table on rank 0.
#include "run/step_profile.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/comm/gather.h"
#include "convoy/io/atomic_file.h"

#include "calibrate/measure_rates.h"
#include "telemetry/rank_meter.h"

namespace convoy {

namespace {

/// What a rank does in a step apart from the work of layers.
enum class Beside : std::int64_t {
  kBetweenLayers,
  kLoading,
  kLoss,
  kSending,
  kGradientExchange,
  kUpdate,
  kNewWeights,
  kWaitingForStages,
  kWaitingForReplicas,
  kWaitingForSamples,
};

constexpr std::array kBesideNames = {"between layers",
                                     "loading samples",
                                     "loss",
                                     "sending to stages",
                                     "exchange and check of gradients",
                                     "update of parameters",
                                     "exchange and packing of new weights",
                                     "waiting for other stages",
                                     "waiting for replicas",
                                     "waiting for samples"};

Beside beside_of(Op op) {
  switch (op) {
    case Op::kForward:
    case Op::kBackward:
    case Op::kBackwardInput:
    case Op::kBackwardWeight:
      return Beside::kBetweenLayers;
    case Op::kLoad:
      return Beside::kLoading;
    case Op::kLoss:
      return Beside::kLoss;
    case Op::kRecvActivation:
    case Op::kSendActivation:
    case Op::kRecvGradient:
    case Op::kSendGradient:
      return Beside::kSending;
    case Op::kReduceBucket:
    case Op::kFoldBucket:
      return Beside::kGradientExchange;
    case Op::kAgreeOnUpdate:
    case Op::kUpdateBucket:
      return Beside::kUpdate;
    case Op::kGatherBucket:
      return Beside::kNewWeights;
  }
  return Beside::kBetweenLayers;
}

constexpr std::int64_t kNoCell = INT64_MAX;  // sorts after all cells

/// A rank's report of a layer's work, or of other work (then `layer` holds the kind of it), all calls together.
struct Part {
  std::int64_t stage = 0, cell = kNoCell, layer = 0, work = 0, calls = 0;
  double seconds = 0, flop = 0;
};

/// Sums of parts of the same stage, cell, layer and work, in that order.
class Sums {
 public:
  void add(const Part& more) {
    Part& sum = sums_[{more.stage, more.cell, more.layer, more.work}];
    const Part before = sum;
    sum = more;
    sum.calls += before.calls;
    sum.seconds += before.seconds;
    sum.flop += before.flop;
  }
  std::vector<Part> all() const {
    std::vector<Part> all;
    for (const auto& [key, sum] : sums_) all.push_back(sum);
    return all;
  }

 private:
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>, Part> sums_;
};

void add_layers(const std::vector<LayerTime>& times, const Network& network, std::int64_t stage, Sums& sums) {
  std::map<const Cell*, std::int64_t> numbers;
  for (std::int64_t i = 0; i < std::ssize(network); ++i) numbers[network[i].get()] = i;
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
}

// Adds the time of the instructions that is left without waiting and layers.
void add_beside(const StageProgram& program, const std::vector<InstructionTimes>& times, std::int64_t stage,
                Sums& sums) {
  const auto add = [&](Beside what, std::int64_t calls, double seconds) {
    sums.add({.stage = stage, .layer = static_cast<std::int64_t>(what), .calls = calls, .seconds = seconds});
  };
  double layer_seconds = 0;
  for (const Part& part : sums.all()) layer_seconds += part.seconds;
  for (std::size_t i = 0; i < times.size(); ++i)
    add(beside_of(program[i % program.size()].op), 1, times[i].end - times[i].ready);
  add(Beside::kBetweenLayers, 0, -layer_seconds);
  const RankWaits waits = waits_of(program, times);
  add(Beside::kWaitingForStages, 0, waits.neighbours + waits.sends);
  add(Beside::kWaitingForReplicas, 0, waits.replicas);
  add(Beside::kWaitingForSamples, 0, waits.samples);
}

}  // namespace

StepProfile::StepProfile(TrainingStep& training, const TraceWindow& window)
    : StepStudy(training, window), layers_(runtime_.device()) {}

StepProfile::~StepProfile() {
  runtime_.stage().observe_layers(nullptr);
}

// The step before the first measured one tells how many calls of layers there are.
void StepProfile::begin_step(std::int64_t step) {
  if (num_made_ < window_.first - 1 || is_complete()) return;
  if (num_made_ == window_.first) {
    layers_.start(window_.num);
    start(step);
  }
  runtime_.stage().observe_layers(&layers_);
}

void StepProfile::end_step(const StepResult& result) {
  runtime_.stage().observe_layers(nullptr);
  if (timer_ != nullptr && !is_complete()) {
    ++num_steps_;
    seconds_ += result.seconds;
  }
  StepStudy::end_step(result);
}

// Returns the rows on rank 0; elsewhere none.
std::vector<ProfileRow> StepProfile::gather_rows() {
  const Network& network = runtime_.plan().network();
  const ProcessGrid& grid = runtime_.grid();
  Sums own;
  add_layers(layers_.read(), network, grid.stage(), own);
  add_beside(training_.program(), timer_->read(), grid.stage(), own);
  Sums sums;
  for (const Part& part : mpi::gather_values(grid.world(), own.all())) sums.add(part);
  const double divisor = static_cast<double>(num_steps_ * grid.num_replicas());
  std::vector<ProfileRow> rows;
  for (const Part& sum : sums.all()) {
    ProfileRow& row = rows.emplace_back(ProfileRow{.stage = sum.stage,
                                                   .calls = static_cast<double>(sum.calls) / divisor,
                                                   .seconds = sum.seconds / divisor,
                                                   .flop = sum.flop / divisor});
    const auto layer = static_cast<std::size_t>(sum.layer);
    if (sum.cell == kNoCell) {
      row.layer.operation = kBesideNames[layer];
    } else {
      row.cell = network[sum.cell]->name();
      row.layer = network[sum.cell]->layers()[layer];
      row.work = LayerWork{static_cast<int>(sum.work)};
    }
  }
  return rows;
}

// Measures on all ranks at the same time, since they also compute at the same time in a step; 0 if one rank could not.
double StepProfile::slowest_product() const {
  const mpi::Communicator& world = runtime_.grid().world();
  world.barrier();
  double mine = 0;
  try {
    mine = measure_product_rate(runtime_.operations(), runtime_.plan().spec().network.type);
  } catch (const Error& error) {
    log_warning(fmt::format(
        "run.profile: the speed of a matrix product, with which layers are compared, cannot be measured: {}",
        error.what()));
  }
  return static_cast<double>(-world.max(-std::llround(mine)));
}

std::optional<Profile> StepProfile::end() {
  if (num_steps_ == 0) return std::nullopt;
  stop();
  Profile profile{.first_step = first_step_,
                  .num_steps = num_steps_,
                  .num_stages = runtime_.grid().num_stages(),
                  .step_seconds = seconds_ / static_cast<double>(num_steps_),
                  .product_flop_a_second = slowest_product(),
                  .rows = gather_rows()};
  return runtime_.grid().is_root() ? std::optional(std::move(profile)) : std::nullopt;
}

std::string StepProfile::write(const std::string& directory) {
  const bool is_root = runtime_.grid().is_root();
  const std::optional<Profile> profile = end();
  if (!profile) return is_root ? "run.profile: this run ended before a step that could be measured" : "";
  const std::string path = directory + "/profile.csv";
  try {
    io::write_text_atomically(path, to_csv(*profile));
  } catch (const Error& error) {
    log_warning(fmt::format("run.profile: {}; the training continues", error.what()));
  }
  return fmt::format("{}\n  each layer: {}", summary_of(*profile), path);
}

}  // namespace convoy
