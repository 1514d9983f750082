/// Runs, gathers, compares.
#include "golden/golden_steps.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/base/median.h"
#include "convoy/io/atomic_file.h"
#include "convoy/ops/engine_cache.h"

#include "checkpoint/checkpointing.h"
#include "golden/golden_backend.h"
#include "golden/golden_data.h"
#include "golden/recording_backend.h"
#include "parallel/mpi_main.h"
#include "reference/array.h"
#include "step/evaluation_step.h"
#include "step/metrics.h"

namespace convoy::test {

namespace {

constexpr int kTag = 7;

// Loss scale of fp16 gradients: with the usual 65536 the first step may be skipped for an overflow. The largest
// gradient's norm is 529.
constexpr double kLossScale = 64;

using reference::norm;
using reference::relative_distance;
using Tensors = std::map<std::string, std::vector<double>>;

Tensors by_name(const std::vector<io::NamedTensor>& tensors) {
  Tensors map;
  for (const io::NamedTensor& tensor : tensors) map[tensor.name] = {tensor.values.begin(), tensor.values.end()};
  return map;
}

std::vector<double> flatten(const nlohmann::json& rows) {
  std::vector<double> values;
  for (const auto& row : rows)
    for (const double value : row) values.push_back(value);
  return values;
}

double relative(double actual, double expected) {
  return std::abs(actual / expected - 1.0);
}

// After the first step the momentum is gradient + weight_decay * weight. Single values are measured by the tensor's
// root mean square: a small one may be the difference of large ones.
void compare_gradients(const nlohmann::json& golden, const Tensors& start, const Tensors& momentum, Deviations& worst) {
  const double decay = golden["sgd"]["weight_decay"];
  double largest_norm = 0;
  for (const auto& [name, expected] : golden["gradients"].items())
    largest_norm = std::max(largest_norm, expected["norm"].get<double>());
  for (const auto& [name, expected] : golden["gradients"].items()) {
    ASSERT_TRUE(momentum.contains(name)) << name;
    std::vector<double> gradient = momentum.at(name);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] -= decay * start.at(name)[i];
    const double expected_norm = expected["norm"];
    // A shift that a later batch norm removes has a gradient of rounding errors only: bn1.bias and bn3.bias in a
    // PyramidNet.
    const double scale = expected_norm > 1e-12 * largest_norm ? expected_norm : 1e-2 * largest_norm;
    worst.gradient_norms.add(std::abs(norm(gradient) - expected_norm) / scale, name);
    const std::vector<double> first = expected["first"];
    const double root_mean_square = scale / std::sqrt(static_cast<double>(gradient.size()));
    for (std::size_t i = 0; i < first.size(); ++i)
      worst.gradient_values.add(std::abs(gradient[i] - first[i]) / root_mean_square, name);
  }
}

void compare_running_statistics(const nlohmann::json& golden, const Tensors& model, Deviations& worst) {
  worst.has_statistics = !golden["running"].empty();
  for (const auto& [name, expected] : golden["running"].items()) {
    worst.statistics.add(relative(norm(model.at(name + ".running_mean")), expected["mean_norm"]), name);
    worst.statistics.add(relative(norm(model.at(name + ".running_var")), expected["var_norm"]), name);
  }
}

// Returns the logits of the last stages on rank 0, in the order of the micro-batches.
std::vector<double> gather_logits(const ProcessGrid& grid, const RecordingBackend& backend) {
  const auto bytes = grid.world().gather(std::as_bytes(std::span(backend.recorded_logits)), 0);
  if (bytes.empty()) return {};  // not rank 0
  std::vector<float> all(bytes.size() / sizeof(float));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return {all.begin(), all.end()};
}

// Returns the file of engines that a GPU's backend measured: a single rank measures again, several ranks use its choice
// if it exists.
std::string engines_file(const GoldenSteps& steps) {
  std::string path = fmt::format("{}/engines-{}-{}.txt", CONVOY_GOLDEN_ENGINES, steps.name, name_of(steps.precision));
  static std::set<std::string> begun;
  if (world().size() == 1 && begun.insert(path).second) std::filesystem::remove(path);
  return path;
}

void keep_engines(ops::Backend& backend, const std::string& path) {
  if (backend.engine_cache() == nullptr || world().rank() != 0) return;
  const std::string text = backend.engine_cache()->serialise();
  io::write_file_atomically(path, std::as_bytes(std::span(text)));
}

RuntimeSpec runtime_spec(const nlohmann::json& golden, const GoldenSteps& steps) {
  RuntimeSpec spec = golden_runtime_spec(golden, steps.schedule);
  spec.network.type = storage_type(steps.precision);
  spec.engines_file = engines_file(steps);
  return spec;
}

}  // namespace

void Deviation::add(double value, const std::string& at) {
  values_.push_back(value);
  if (value > largest_ || std::isnan(value)) largest_ = value, where_ = at;
}

void Deviation::expect_within(double tolerance, const char* kind) const {
  EXPECT_FALSE(values_.empty()) << "nothing was compared: " << kind;
  fmt::print("  {:<18} {:.1e}  ({}), allowed {:.0e}\n", kind, largest_, where_, tolerance);
  EXPECT_LE(largest_, tolerance) << kind << " of " << where_;
}

void Deviation::expect_mean_within(double tolerance, const char* kind) const {
  EXPECT_FALSE(values_.empty()) << "nothing was compared: " << kind;
  const double sum_of_squares = std::inner_product(values_.begin(), values_.end(), values_.begin(), 0.0);
  const double mean = std::sqrt(sum_of_squares / static_cast<double>(values_.size()));
  fmt::print("  {:<18} {:.1e}  (root mean square of {}), allowed {:.0e}\n", kind, mean, values_.size(), tolerance);
  EXPECT_LE(mean, tolerance) << kind << ", root mean square";
}

void Deviation::expect_median_within(double tolerance, const char* kind) const {
  ASSERT_FALSE(values_.empty()) << "nothing was compared: " << kind;
  const double middle = median(values_);
  fmt::print("  {:<18} {:.1e}  (median of {}), allowed {:.0e}\n", kind, middle, values_.size(), tolerance);
  EXPECT_LE(middle, tolerance) << kind << ", median";
}

Deviations run_golden(const GoldenSteps& steps) {
  const nlohmann::json golden = read_golden(steps.name);
  const ProcessGrid grid(world(), world().size() > 1 ? 2 : 1);
  const auto device = make_backend(steps.precision);
  RecordingBackend backend(*device);
  StatusBoard board;
  RankRuntime runtime(runtime_spec(golden, steps), grid, backend, board);
  TrainingStep training(runtime);
  EvaluationStep evaluation(runtime);
  keep_engines(backend, runtime.plan().spec().engines_file);
  training.loss_scale().restore({.scale = kLossScale});
  const io::Checkpoint start = golden_start(runtime.plan().network());
  restore_weights(start.model, "golden", runtime);
  training.set_batch_counters(start.counters);
  GoldenSource source(golden, runtime);
  MetricsChannel metrics(runtime, kTag);
  Deviations worst;

  const std::vector<double> losses = golden["losses"];
  const std::size_t num_steps = steps.first_alone ? 1 : losses.size();
  for (std::size_t step = 0; step < num_steps; ++step) {
    training.run(source, golden["sgd"]["lr"]);
    metrics.post(training.loss());
    if (grid.is_root()) {
      const double deviation = relative(metrics.collect().mean_loss(), losses[step]);
      (step == 0 ? worst.first_loss : worst.later_losses).add(deviation, fmt::format("step {}", step));
    }
    if (step > 0) continue;
    const auto logits = gather_logits(grid, backend);
    const io::Checkpoint after = gather_checkpoint(training);
    if (!grid.is_root()) continue;
    worst.logits.add(relative_distance(logits, flatten(golden["logits"])), "step 0");
    compare_gradients(golden, by_name(start.model), by_name(after.optimizer.at("momentum")), worst);
    compare_running_statistics(golden, by_name(after.model), worst);
  }

  if (!steps.first_alone) {
    backend.recorded_logits.clear();
    evaluation.keep_logits();
    evaluation.run(source);
    EXPECT_TRUE(std::ranges::equal(evaluation.logits(), backend.recorded_logits)) << "kept: what the loss has seen";
    const auto logits = gather_logits(grid, backend);
    const io::Checkpoint after = gather_checkpoint(training);
    if (grid.is_root()) {
      worst.evaluation_logits.add(relative_distance(logits, flatten(golden["eval_logits_after_4_steps"])),
                                  "after 4 steps");
      const Tensors model = by_name(after.model);
      for (const auto& [parameter, expected] : golden["parameter_norms_after_4_steps"].items())
        worst.parameters.add(relative(norm(model.at(parameter)), expected), parameter);
    }
  }
  metrics.finish();
  runtime.finish();
  return worst;
}

}  // namespace convoy::test
