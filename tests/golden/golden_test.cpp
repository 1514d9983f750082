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

constexpr double kFirstStep = 1e-4, kLaterLosses = 1e-3, kAfterFourSteps = 1e-2;  // README.md beside this file
constexpr int kTag = 7;

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

// After the first step the momentum is gradient + weight_decay * weight.
void expect_gradients(const nlohmann::json& golden, const Tensors& start, const Tensors& momentum) {
  const double decay = golden["sgd"]["weight_decay"];
  for (const auto& [name, expected] : golden["gradients"].items()) {
    ASSERT_TRUE(momentum.contains(name)) << name;
    std::vector<double> gradient = momentum.at(name);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] -= decay * start.at(name)[i];
    const double expected_norm = expected["norm"];
    EXPECT_NEAR(norm(gradient) / expected_norm, 1.0, kFirstStep) << name;
    const std::vector<double> first = expected["first"];
    const double typical = expected_norm / std::sqrt(static_cast<double>(gradient.size()));
    for (std::size_t i = 0; i < first.size(); ++i)
      EXPECT_NEAR(gradient[i], first[i], kFirstStep * std::max(10 * typical, std::abs(first[i])))
          << name << "[" << i << "]";
  }
}

void expect_running_statistics(const nlohmann::json& golden, const Tensors& model) {
  for (const auto& [name, expected] : golden["running"].items()) {
    EXPECT_NEAR(norm(model.at(name + ".running_mean")) / expected["mean_norm"].get<double>(), 1.0, kFirstStep) << name;
    EXPECT_NEAR(norm(model.at(name + ".running_var")) / expected["var_norm"].get<double>(), 1.0, kFirstStep) << name;
  }
}

// The logits that the last stages saw, in the order of the micro-batches, at rank 0.
std::vector<double> gather_logits(const ProcessGrid& grid, const RecordingLibrary& library) {
  const auto bytes = grid.world().gather(std::as_bytes(std::span(library.logits)), 0);
  std::vector<float> all(bytes.size() / sizeof(float));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return {all.begin(), all.end()};
}

void expect_golden(const std::string& name, std::int64_t stages, ScheduleKind schedule) {
  SCOPED_TRACE(name);
  const nlohmann::json golden = read_golden(name);
  const ProcessGrid grid(world(), stages);
  const auto cpu = ops::make_library({.device = DeviceKind::kCpu, .threads = 1});
  RecordingLibrary library(*cpu);
  Engine engine(golden_engine_spec(golden, schedule), grid, library);
  const io::Checkpoint start = golden_start(engine.plan().network());
  restore_checkpoint(start, "golden", false, engine);
  GoldenSource source(golden, engine.micro_batches().begin, engine.device());
  MetricsChannel metrics(engine, kTag);

  const std::vector<double> losses = golden["losses"];
  for (std::size_t step = 0; step < losses.size(); ++step) {
    engine.train_step(source, golden["sgd"]["lr"]);
    metrics.post();
    if (grid.is_root()) {
      const double loss = metrics.collect().mean_loss();
      EXPECT_NEAR(loss / losses[step], 1.0, step == 0 ? kFirstStep : kLaterLosses) << "step " << step;
    }
    if (step > 0) continue;
    const auto logits = gather_logits(grid, library);
    const io::Checkpoint after = gather_checkpoint(engine);
    if (!grid.is_root()) continue;
    EXPECT_LE(relative_distance(logits, flatten(golden["logits"])), kFirstStep);
    expect_gradients(golden, by_name(start.model), by_name(after.optimizer.at("momentum")));
    expect_running_statistics(golden, by_name(after.model));
  }

  library.logits.clear();
  engine.evaluate_step(source);
  const auto logits = gather_logits(grid, library);
  const io::Checkpoint after = gather_checkpoint(engine);
  if (!grid.is_root()) return;
  EXPECT_LE(relative_distance(logits, flatten(golden["eval_logits_after_4_steps"])), kAfterFourSteps);
  const Tensors model = by_name(after.model);
  for (const auto& [parameter, expected] : golden["parameter_norms_after_4_steps"].items())
    EXPECT_NEAR(norm(model.at(parameter)) / expected.get<double>(), 1.0, kAfterFourSteps) << parameter;
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
  expect_golden("resnet18-b8-m8", stages(), ScheduleKind::k1F1B);
}

TEST(Golden, Resnet50OnTwoMicroBatchesEqualsPyTorch) {
  expect_golden("resnet50-b8-m4", stages(), ScheduleKind::k1F1B);
}

}  // namespace convoy::test
