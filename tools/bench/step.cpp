/// Times training steps on synthetic data: samples per second, the distribution of the time, and the share of oneDNN's
/// own time. Started by tools/bench/step, under mpirun if a grid is asked for.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <boost/program_options.hpp>
#include <sys/resource.h>

#include "convoy/base/median.h"
#include "convoy/comm/process_grid.h"
#include "convoy/comm/session.h"
#include "convoy/comm/topology.h"
#include "convoy/model/network_file.h"
#include "convoy/params/choices.h"

#include "calibrate/calibration.h"
#include "checkpoint/checkpointing.h"
#include "plan/planner.h"
#include "run/step_profile.h"
#include "step/training_step.h"
#include "timing.h"
#include "yardstick.h"

namespace convoy::bench {

namespace {

struct Options {
  std::string model = "resnet20";
  std::int64_t size = 32, micro = 16, global = 128, stages = 1, chunks = 2, threads = 1, steps = 20, channels = 3,
               classes = 10, length = 256, vocabulary = 20000, values = 32, hidden = 64;
  TransformerParams transformer = {.layers = 8, .heads = 8, .width = 256, .feedforward = 1024};
  std::string schedule = "1f1b", device = "cpu", precision = "f32", recompute = "none";
  std::string activation = name_of(ActivationKind::kRelu);
  bool unchecked = false;
  bool yardstick = false;
  bool paced = false;
  bool terse = false;
  bool json = false;
};

Options parse(int argc, char** argv) {
  namespace po = boost::program_options;
  Options options;
  po::options_description description("bench_step");
  const auto add = [&](const char* name, auto& value, const char* text) {
    description.add_options()(name, po::value(&value)->default_value(value), text);
  };
  description.add_options()("help", "this text");
  add("model", options.model, "network");
  add("size", options.size, "image side, pixels");
  add("channels", options.channels, "image channels");
  add("classes", options.classes, "classes; mlp: numbers that are predicted");
  add("values", options.values, "mlp: numbers of a sample");
  add("hidden", options.hidden, "mlp: values between its two layers");
  add("length", options.length, "transformer: tokens of each text");
  add("vocabulary", options.vocabulary, "transformer: words that there are");
  add("layers", options.transformer.layers, "transformer: layers of the encoder");
  add("heads", options.transformer.heads, "transformer: heads of attention");
  add("width", options.transformer.width, "transformer: values of a word");
  add("feedforward", options.transformer.feedforward, "transformer: outputs of a layer's first linear layer");
  add("dropout", options.transformer.dropout, "transformer: the share that is dropped");
  add("activation", options.activation, "transformer: relu, gelu or gelu_tanh");
  add("micro", options.micro, "samples per micro-batch");
  add("global", options.global, "samples per step");
  add("stages", options.stages, "stages; replicas = ranks / stages");
  add("threads", options.threads, "threads per rank");
  add("steps", options.steps, "timed steps");
  add("schedule", options.schedule, "naive, gpipe, 1f1b, interleaved or zero_bubble");
  add("chunks", options.chunks, "interleaved: chunks of consecutive cells per stage");
  add("device", options.device, "cpu or cuda");
  add("precision", options.precision, "f32, tf32, bf16 or fp16");
  add("recompute", options.recompute, "none or cell");
  description.add_options()("unchecked", po::bool_switch(&options.unchecked),
                            "steps are applied without a look at whether their numbers are finite");
  description.add_options()("yardstick", po::bool_switch(&options.yardstick),
                            "time oneDNN's convolutions and matrix products in turn");
  description.add_options()(
      "paced", po::bool_switch(&options.paced),
      "of each line of input: N runs N steps and prints seconds per step, 0 prints the peak memory, bytes");
  description.add_options()("terse", po::bool_switch(&options.terse), "one line: seconds per step, median");
  description.add_options()("json", po::bool_switch(&options.json), "one line for tools/bench/gpu");
  po::variables_map map;
  po::store(po::parse_command_line(argc, argv, description), map);
  po::notify(map);
  if (map.contains("help")) {
    std::cout << description;
    std::exit(0);
  }
  return options;
}

template <typename Kind>
Kind kind_named(const char* option, const std::string& name, std::initializer_list<Kind> kinds) {
  for (const Kind kind : kinds)
    if (name == name_of(kind)) return kind;
  refuse("--{} {} is not known: see --help", option, name);
}

ScheduleKind schedule_of(const Options& options) {
  return kind_named("schedule", options.schedule,
                    {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B, ScheduleKind::kInterleaved,
                     ScheduleKind::kZeroBubble});
}

DeviceKind device_of(const Options& options) {
  return kind_named("device", options.device, {DeviceKind::kCpu, DeviceKind::kCuda});
}

PrecisionKind precision_of(const Options& options) {
  return kind_named("precision", options.precision,
                    {PrecisionKind::kF32, PrecisionKind::kTf32, PrecisionKind::kBf16, PrecisionKind::kFp16});
}

RecomputeKind recompute_of(const Options& options) {
  return kind_named("recompute", options.recompute, {RecomputeKind::kNone, RecomputeKind::kCell});
}

bool reads_texts(const Options& options) {
  return options.model == "transformer";
}

bool reads_numbers(const Options& options) {
  return options.model == "mlp";
}

InputShape input_of(const Options& options) {
  if (reads_numbers(options)) return ArrayShapes{{{"values", Shape::vectors(1, options.values)}}};
  if (reads_texts(options)) return TextShape{.length = options.length, .vocabulary = options.vocabulary};
  return ImageShape{options.size, options.size, options.channels};
}

TransformerParams transformer_of(const Options& options) {
  TransformerParams params = options.transformer;
  params.activation = kind_named("activation", options.activation,
                                 {ActivationKind::kRelu, ActivationKind::kGelu, ActivationKind::kGeluTanh});
  return params;
}

// The costs of cells on this machine, by which stages are cut as in `convoy train`.
std::optional<MachineCosts> costs_of(const NetworkSpec& network, const Options& options, const ProcessGrid& grid,
                                     ops::Backend& backend) {
  if (grid.num_stages() == 1) return std::nullopt;
  CalibrationSpec spec = calibration_spec(network, {.threads = options.threads}, grid.world(), backend);
  spec.file.clear(), spec.engines_file.clear();  // measured in every run, and not stored
  return find_machine_costs(spec, grid.world(), backend);
}

NetworkSettings settings_of(const Options& options) {
  if (reads_texts(options)) return network_settings(transformer_of(options));
  if (reads_numbers(options)) return {{"width", std::to_string(options.hidden)}};
  return {};
}

Target target_of(const Options& options) {
  if (!reads_numbers(options)) return {};
  return {.kind = TargetKind::kNumbers, .shape = Shape::vectors(1, options.classes)};
}

RuntimeSpec runtime_spec_of(const Options& options) {
  return {.network = {.name = options.model,
                      .input = input_of(options),
                      .settings = settings_of(options),
                      .micro_batch = options.micro,
                      .num_classes = options.classes,
                      .target = target_of(options),
                      .type = storage_type(precision_of(options))},
          .batch = {.global = options.global, .micro = options.micro},
          .schedule = schedule_of(options),
          .chunks = schedule_of(options) == ScheduleKind::kInterleaved ? options.chunks : 1,
          .memory = {.recompute = recompute_of(options)},
          .optimizer = {.kind = reads_texts(options) ? OptimizerKind::kAdamW : OptimizerKind::kSgd},
          .checks_numbers = !options.unchecked};
}

constexpr int kWarmSteps = 3;  // a device with graphs issues the first, captures the second and then replays

struct Result {
  std::vector<double> step_seconds, yardstick_seconds;
  std::int64_t memory_bytes = 0, planned_bytes = 0;
  double seconds = 0, predicted_seconds = 0;
  std::optional<Profile> profile;  ///< on the root, if it was asked for
};

// Times step by step.
class Measurement {
 public:
  Measurement(const Options& options, const ProcessGrid& grid, TrainingStep& training, const Products& products)
      : grid_(grid), training_(training), source_(training.runtime()) {
    if (options.yardstick) yardstick_ = std::make_unique<Yardstick>(products);
    for (int warm = 0; warm < kWarmSteps; ++warm) {
      training_.run(source_, 0.01);
      if (yardstick_) yardstick_->run();
    }
  }

  // Times a step and the yardstick in turn: the machine's speed drifts, their ratio drifts less.
  void run_step(Result& result) {
    result.step_seconds.push_back(seconds_of_step(training_, source_, grid_.world()));
    result.seconds += result.step_seconds.back();
    if (!yardstick_) return;
    double seconds = 0;
    for (std::int64_t pass = 0; pass < training_.runtime().micro_batches().size(); ++pass) seconds += yardstick_->run();
    result.yardstick_seconds.push_back(seconds);
  }

  // Profiles separate steps: on a GPU they are issued without graphs.
  std::optional<Profile> profile(std::int64_t num_steps) {
    StepProfile profile(training_, {.first = 1, .num = num_steps});
    for (std::int64_t step = 1; !profile.is_complete(); ++step) {
      profile.begin_step(step);
      profile.end_step({.seconds = seconds_of_step(training_, source_, grid_.world())});
    }
    return profile.end();
  }

 private:
  const ProcessGrid& grid_;
  TrainingStep& training_;
  SyntheticSource source_;
  std::unique_ptr<Yardstick> yardstick_;
};

Result measure(const Options& options, const ProcessGrid& grid, TrainingStep& training, const Products& products) {
  Measurement measurement(options, grid, training, products);
  Result result;
  for (std::int64_t step = 0; step < options.steps; ++step) measurement.run_step(result);
  result.memory_bytes = training.runtime().device().allocated_bytes();
  result.planned_bytes = training.runtime().plan().memory_of(grid.stage()).total();
  result.predicted_seconds = predict_step(training.runtime().plan()).step_seconds;
  if (!options.terse) result.profile = measurement.profile(options.steps);
  return result;
}

std::int64_t peak_of_process_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024 * static_cast<std::int64_t>(usage.ru_maxrss);
}

// --- Paced: the caller decides when steps run -------------------------------------------------------------------

constexpr std::int64_t kNoMore = -1, kNothing = -2;

// Reads a number of steps, from 0; kNoMore at the end of the input.
std::int64_t read_request() {
  std::string line;
  if (!std::getline(std::cin, line)) return kNoMore;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || end != line.data() + line.size() || number < 0)
    refuse("--paced: the line '{}' is not a number of steps. Allowed: 0 or more", line);
  return number;
}

// The root's next request, on all ranks. They sleep until it comes, so that others can compute.
std::int64_t next_request(const mpi::Communicator& world, bool is_root) {
  const std::int64_t mine = is_root ? read_request() : kNothing;
  std::int64_t asked = kNothing;
  mpi::Request request = world.start_max(&mine, &asked);
  while (!request.test()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return asked;
}

void run_paced(const Options& options, const ProcessGrid& grid, TrainingStep& training, const Products& products) {
  Measurement measurement(options, grid, training, products);
  const auto answer = [&](const std::string& text) {
    if (!grid.is_root()) return;
    fmt::print("{}\n", text);
    std::fflush(stdout);
  };
  answer("ready");
  for (std::int64_t asked; (asked = next_request(grid.world(), grid.is_root())) != kNoMore;) {
    if (asked == 0) {
      answer(std::to_string(grid.world().sum(peak_of_process_bytes())));
      continue;
    }
    Result result;
    for (std::int64_t step = 0; step < asked; ++step) measurement.run_step(result);
    answer(fmt::format("{:.9f}", result.seconds / static_cast<double>(asked)));
  }
}

double in_mib(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

void print(const Options& options, const ProcessGrid& grid, const Result& result) {
  const double step = median(result.step_seconds);
  fmt::print("{} of {}  {}  global {}  micro {}  grid {}x{}  {} threads per rank  {}\n", options.model,
             to_string(input_of(options)), options.precision, options.global, options.micro, grid.num_stages(),
             grid.num_replicas(), options.threads, options.schedule);
  fmt::print("  {:.4g} ms per step   {:.2f} samples/s   (median of {}, {:.4g} .. {:.4g} ms)\n", 1e3 * step,
             static_cast<double>(options.global) / step, options.steps,
             1e3 * *std::min_element(result.step_seconds.begin(), result.step_seconds.end()),
             1e3 * *std::max_element(result.step_seconds.begin(), result.step_seconds.end()));
  if (grid.num_stages() > 1) fmt::print("  {:.2f} ms per step were predicted\n", 1e3 * result.predicted_seconds);
  fmt::print("  memory, MiB: planned {:.0f}, allocated {:.0f}, the process at most {:.0f}\n",
             in_mib(result.planned_bytes), in_mib(result.memory_bytes), in_mib(peak_of_process_bytes()));
  if (result.profile) fmt::print("{}\n", summary_of(*result.profile));
  if (result.yardstick_seconds.empty()) return;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < result.step_seconds.size(); ++i)
    ratios.push_back(result.yardstick_seconds[i] / result.step_seconds[i]);
  fmt::print("  oneDNN's products alone: {:.4g} ms; the step reaches {:.1f} % of that speed (median of pairs)\n",
             1e3 * median(result.yardstick_seconds), 100 * median(ratios));
}

ops::BackendSpec backend_spec_of(const Options& options, const ProcessGrid& grid) {
  return {.device = device_of(options),
          .threads = options.threads,
          .local_rank = find_topology(grid.world()).local_rank,
          .tf32 = precision_of(options) == PrecisionKind::kTf32};
}

void print_json(const Options& options, const RankRuntime& runtime, const Result& result) {
  double flop = 0;
  for (const auto& cell : runtime.plan().network())
    flop += cell->memory().forward_flop() + cell->memory().backward_flop();
  const double step = median(result.step_seconds);
  std::string families;
  for (const ProfileSum& sum : sums_of(*result.profile))
    families += fmt::format(R"({}"{}": {})", families.empty() ? "" : ", ", sum.name, sum.seconds);
  fmt::print(R"({{"program": "convoy", "device": "{}", "precision": "{}", "seconds": {}, "images_per_second": {}, )"
             R"("memory_bytes": {}, "flop_an_image": {}, "families": {{{}}}}})"
             "\n",
             runtime.device().description(), options.precision, step, static_cast<double>(options.global) / step,
             result.memory_bytes, flop / static_cast<double>(options.micro), families);
}

ExitStatus run(const Options& options, mpi::Session& session) {
  const ProcessGrid grid(session.world(), options.stages);
  const auto inner = ops::make_backend(backend_spec_of(options, grid));
  ProductList backend(*inner);
  StatusBoard board;
  RuntimeSpec spec = runtime_spec_of(options);
  spec.machine = costs_of(spec.network, options, grid, *inner);
  RankRuntime runtime(spec, grid, backend, board);
  TrainingStep training(runtime);
  initialise_parameters({.seed = 1}, runtime);
  if (options.paced) {
    run_paced(options, grid, training, backend.products());
    return ExitStatus::kDone;
  }
  const Result result = measure(options, grid, training, backend.products());
  if (!grid.is_root()) return ExitStatus::kDone;
  if (options.terse) {
    fmt::print("{:.9f}\n", median(result.step_seconds));
  } else if (options.json) {
    print_json(options, runtime, result);
  } else {
    print(options, grid, result);
  }
  return ExitStatus::kDone;
}

}  // namespace

}  // namespace convoy::bench

int main(int argc, char** argv) {
  return convoy::mpi::run_guarded(argc, argv, [&](convoy::mpi::Session& session) {
    return convoy::bench::run(convoy::bench::parse(argc, argv), session);
  });
}
