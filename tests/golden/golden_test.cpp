/// Training steps equal PyTorch's, on one rank, on two stages and on two stages of two replicas.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "golden/golden_data.h"
#include "golden/recording_library.h"
#include "parallel/mpi_main.h"
#include "train/checkpointing.h"
#include "train/metrics.h"

namespace convoy::test {

namespace {

constexpr int kTag = 7;

/// Relative tolerances; README.md beside this file gives the reasons.
struct Tolerances {
  double first_loss = 1e-4, logits = 1e-4, gradient_norms = 1e-4, gradient_values = 1e-3, statistics = 1e-4;
  double later_losses = 1e-3, parameters = 1e-2, evaluation_logits = 1e-2;
};

/// The largest deviation of its kind, and where it is.
struct Worst {
  double deviation = 0;
  std::string where = "nowhere";
  std::int64_t count = 0;

  void add(double value, const std::string& at) {
    ++count;
    if (value > deviation || std::isnan(value)) deviation = value, where = at;
  }
  void expect_within(double tolerance, const char* kind) const {
    EXPECT_GT(count, 0) << "nothing was compared: " << kind;
    fmt::print("  {:<18} {:.1e}  ({}), allowed {:.0e}\n", kind, deviation, where, tolerance);
    EXPECT_LE(deviation, tolerance) << kind << " of " << where;
  }
};

struct Deviations {
  Worst first_loss, logits, gradient_norms, gradient_values, statistics, later_losses, parameters, evaluation_logits;

  void expect_within(const Tolerances& tolerances) const {
    first_loss.expect_within(tolerances.first_loss, "first loss");
    logits.expect_within(tolerances.logits, "logits");
    gradient_norms.expect_within(tolerances.gradient_norms, "gradient norms");
    gradient_values.expect_within(tolerances.gradient_values, "gradient values");
    statistics.expect_within(tolerances.statistics, "running statistics");
    later_losses.expect_within(tolerances.later_losses, "later losses");
    parameters.expect_within(tolerances.parameters, "parameters");
    evaluation_logits.expect_within(tolerances.evaluation_logits, "evaluation logits");
  }
};

using Tensors = std::map<std::string, std::vector<double>>;

Tensors by_name(const std::vector<io::NamedTensor>& tensors) {
  Tensors map;
  for (const io::NamedTensor& tensor : tensors) map[tensor.name] = {tensor.values.begin(), tensor.values.end()};
  return map;
}

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

// |actual - expected| / |expected| of whole vectors.
double relative_distance(const std::vector<double>& actual, const std::vector<double>& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  std::vector<double> difference(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) difference[i] = actual[i] - expected[i];
  return norm(difference) / norm(expected);
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
  for (const auto& [name, expected] : golden["gradients"].items()) {
    ASSERT_TRUE(momentum.contains(name)) << name;
    std::vector<double> gradient = momentum.at(name);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] -= decay * start.at(name)[i];
    const double expected_norm = expected["norm"];
    worst.gradient_norms.add(relative(norm(gradient), expected_norm), name);
    const std::vector<double> first = expected["first"];
    const double root_mean_square = expected_norm / std::sqrt(static_cast<double>(gradient.size()));
    for (std::size_t i = 0; i < first.size(); ++i)
      worst.gradient_values.add(std::abs(gradient[i] - first[i]) / root_mean_square, name);
  }
}

void compare_running_statistics(const nlohmann::json& golden, const Tensors& model, Deviations& worst) {
  for (const auto& [name, expected] : golden["running"].items()) {
    worst.statistics.add(relative(norm(model.at(name + ".running_mean")), expected["mean_norm"]), name);
    worst.statistics.add(relative(norm(model.at(name + ".running_var")), expected["var_norm"]), name);
  }
}

// The logits that the last stages saw, in the order of the micro-batches, at rank 0.
std::vector<double> gather_logits(const ProcessGrid& grid, const RecordingLibrary& library) {
  const auto bytes = grid.world().gather(std::as_bytes(std::span(library.recorded_logits)), 0);
  if (bytes.empty()) return {};  // another rank
  std::vector<float> all(bytes.size() / sizeof(float));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return {all.begin(), all.end()};
}

// Four steps on this grid; the deviations are rank 0's.
Deviations run_golden(const nlohmann::json& golden, std::int64_t stages, ScheduleKind schedule) {
  const ProcessGrid grid(world(), stages);
  const auto cpu = ops::make_library({.device = DeviceKind::kCpu, .threads = 1});
  RecordingLibrary library(*cpu);
  Engine engine(golden_engine_spec(golden, schedule), grid, library);
  const io::Checkpoint start = golden_start(engine.plan().network());
  restore_checkpoint(start, "golden", false, engine);
  GoldenSource source(golden, engine);
  MetricsChannel metrics(engine, kTag);
  Deviations worst;

  const std::vector<double> losses = golden["losses"];
  for (std::size_t step = 0; step < losses.size(); ++step) {
    engine.train_step(source, golden["sgd"]["lr"]);
    metrics.post();
    if (grid.is_root()) {
      const double deviation = relative(metrics.collect().mean_loss(), losses[step]);
      (step == 0 ? worst.first_loss : worst.later_losses).add(deviation, fmt::format("step {}", step));
    }
    if (step > 0) continue;
    const auto logits = gather_logits(grid, library);
    const io::Checkpoint after = gather_checkpoint(engine);
    if (!grid.is_root()) continue;
    worst.logits.add(relative_distance(logits, flatten(golden["logits"])), "step 0");
    compare_gradients(golden, by_name(start.model), by_name(after.optimizer.at("momentum")), worst);
    compare_running_statistics(golden, by_name(after.model), worst);
  }

  library.recorded_logits.clear();
  engine.evaluate_step(source);
  const auto logits = gather_logits(grid, library);
  const io::Checkpoint after = gather_checkpoint(engine);
  metrics.finish();
  engine.finish();
  if (!grid.is_root()) return worst;
  worst.evaluation_logits.add(relative_distance(logits, flatten(golden["eval_logits_after_4_steps"])), "after 4 steps");
  const Tensors model = by_name(after.model);
  for (const auto& [parameter, expected] : golden["parameter_norms_after_4_steps"].items())
    worst.parameters.add(relative(norm(model.at(parameter)), expected), parameter);
  return worst;
}

void expect_golden(const std::string& name, std::int64_t stages, ScheduleKind schedule,
                   const Tolerances& tolerances = {}) {
  SCOPED_TRACE(name);
  const Deviations worst = run_golden(read_golden(name), stages, schedule);
  if (world().rank() == 0) worst.expect_within(tolerances);
}

// Two stages where there is more than one rank: 1x1, 2x1, 2x2.
std::int64_t stages() {
  return world().size() > 1 ? 2 : 1;
}

}  // namespace

TEST(Golden, Resnet20OnOneMicroBatchEqualsPyTorch) {
  if (world().size() > 2) GTEST_SKIP() << "one micro-batch cannot be shared by two replicas";
  expect_golden("resnet20-b8-m8", stages(), ScheduleKind::kNaive);
}

TEST(Golden, Resnet20OnFourMicroBatchesEqualsPyTorch) {
  for (const ScheduleKind kind : {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B})
    expect_golden("resnet20-b8-m2", stages(), kind);
}

TEST(Golden, Resnet18OnOneMicroBatchEqualsPyTorch) {
  if (world().size() > 2) GTEST_SKIP() << "one micro-batch cannot be shared by two replicas";
  Tolerances tolerances;
  // An activation within rounding of zero passes all of its gradient or none.
  tolerances.gradient_norms = 5e-4;
  tolerances.gradient_values = 1e-2;
  expect_golden("resnet18-b8-m8", stages(), ScheduleKind::k1F1B, tolerances);
}

TEST(Golden, Resnet50OnTwoMicroBatchesIsAsNearAsPyTorchsFloat32) {
  // Batch norm over 16 values in its last layer: PyTorch's own float32 leaves its float64 by up to half of these.
  Tolerances tolerances;
  tolerances.gradient_norms = 1.5e-2;
  tolerances.gradient_values = 0.25;
  tolerances.later_losses = 0.33;
  tolerances.parameters = 2.5e-2;
  tolerances.evaluation_logits = 0.55;
  expect_golden("resnet50-b8-m4", stages(), ScheduleKind::k1F1B, tolerances);
}

}  // namespace convoy::test
