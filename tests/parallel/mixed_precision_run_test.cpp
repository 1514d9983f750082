/// Whole runs in 16-bit storage, images and evaluation included: stopped, and gone on with.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"
#include "convoy/params/parameters.h"

#include "parallel/mpi_main.h"
#include "parallel/shared_directory.h"
#include "parallel/storage_ways.h"
#include "run/trainer.h"
#include "unit/io/dataset_samples.h"
#include "watchdog/status_board.h"

namespace convoy::test {

namespace {

constexpr std::int64_t kSteps = 6, kStepsBeforeStop = 3;  // 2 per epoch: the stop is in the middle of one

class MixedPrecisionRun : public testing::Test {
 protected:
  MixedPrecisionRun() {
    if (is_root()) {
      write_data("train", 16);
      write_data("test", 6);  // and 2 padding samples
    }
    world().barrier();
  }

  static bool is_root() { return world().rank() == 0; }

  void train_until(std::int64_t step, std::int64_t stages, const StorageWay& way, const std::string& run,
                   const BadStepKind on_bad_step = BadStepKind::kStop) const {
    Parameters params;
    params.data.train = directory_ / "train";
    params.data.test = directory_ / "test";
    params.batch = {.global = 8, .micro = 2};
    params.grid.stages = stages;
    params.plan.measure = false;
    params.optimizer.lr = 0.05;
    params.train.epochs = 3;
    params.train.max_steps = step;
    params.train.precision = way.precision;
    params.train.on_bad_step = on_bad_step;
    params.augment = {.crop_padding = 1, .flip = true};
    params.run.directory = directory_ / run;
    params.run.bucket_mib = 0.125;
    const auto backend = way.make_backend();
    StatusBoard board;
    EXPECT_EQ(train(params, world(), *backend, board), ExitStatus::kDone);
  }

  std::string checkpoint_directory(const std::string& run) const { return (directory_ / run) + "/checkpoints"; }
  io::Checkpoint read(const std::string& run, std::int64_t step) const {
    const std::string path = io::checkpoint_path(checkpoint_directory(run), step);
    return io::decode_checkpoint(io::read_file(path), path);
  }
  void write(const std::string& run, const io::Checkpoint& checkpoint) const {
    std::filesystem::create_directories(checkpoint_directory(run));
    io::write_file_atomically(io::checkpoint_path(checkpoint_directory(run), checkpoint.state.step),
                              io::encode_checkpoint(checkpoint));
  }
  // All but the parameter file, which names the run's directory.
  void expect_same_end(const std::string& run_a, const std::string& run_b) const {
    io::Checkpoint a = read(run_a, kSteps), b = read(run_b, kSteps);
    a.parameters = b.parameters = "";
    EXPECT_TRUE(io::encode_checkpoint(a) == io::encode_checkpoint(b));
  }

 private:
  void write_data(const std::string& split, std::int64_t num_samples) const {
    DatasetContent content = make_content({.image = {8, 8, 3}, .num_samples = num_samples, .num_classes = 4});
    write_dataset(directory_.path(), split, 1, content);
  }

  SharedDirectory directory_;
};

TEST_F(MixedPrecisionRun, StoppedAndGoneOnWithOnAnotherGridEndsAsIfNeverStopped) {
  for (const StorageWay& way : kStorageWays) {
    SCOPED_TRACE(way.name);
    const std::string whole = fmt::format("{}, whole", way.name), stopped = fmt::format("{}, stopped", way.name);
    train_until(kSteps, 1, way, whole);
    train_until(kStepsBeforeStop, 1, way, stopped);
    train_until(kSteps, world().size(), way, stopped);
    if (!is_root()) continue;
    expect_same_end(whole, stopped);
    const io::TrainingState state = read(whole, kSteps).state;
    const bool scaled = way.precision == PrecisionKind::kFp16;
    EXPECT_EQ(state.loss_scale, scaled ? 65536 : 1);
    EXPECT_EQ(state.loss_scale_steps, scaled ? kSteps : 0);
  }
}

TEST_F(MixedPrecisionRun, GoesOnWithTheLossScaleOfItsCheckpoint) {
  const StorageWay& fp16 = *std::ranges::find(kStorageWays, PrecisionKind::kFp16, &StorageWay::precision);
  train_until(kStepsBeforeStop, 1, fp16, "begin");
  if (is_root()) {
    io::Checkpoint checkpoint = read("begin", kStepsBeforeStop);
    checkpoint.state.loss_scale = 0x1p21;
    for (const char* run : {"replicas", "stages"}) write(run, checkpoint);
  }
  world().barrier();
  train_until(kSteps, 1, fp16, "replicas");
  train_until(kSteps, world().size(), fp16, "stages");
  if (!is_root()) return;
  expect_same_end("replicas", "stages");
  // With a mean loss above 1 there is a p below 1/e: the loss's gradient reaches scale / 8 * (1 - 1/e), above fp16's
  // 65504 at 2^21 and at 2^20. Three steps halve three times at most.
  const double scale = read("stages", kSteps).state.loss_scale;
  EXPECT_LE(scale, 0x1p19);
  EXPECT_GE(scale, 0x1p18);
}

// --- Bad steps in fp16: told apart from those that a smaller scale mends -------------------------------------

class BadStepInFp16 : public MixedPrecisionRun {
 protected:
  // A run of three steps, of whose checkpoint these tensors are multiplied by a number, on replicas and on stages.
  void begin_with(const std::map<std::string, float>& scales, double loss_scale) {
    train_until(kStepsBeforeStop, 1, fp16_, "begin");
    if (is_root()) {
      io::Checkpoint checkpoint = read("begin", kStepsBeforeStop);
      checkpoint.state.loss_scale = loss_scale;
      for (io::NamedTensor& tensor : checkpoint.model)
        if (const auto scale = scales.find(tensor.name); scale != scales.end())
          for (float& value : tensor.values) value *= scale->second;
      for (const char* run : {"replicas", "stages"}) write(run, checkpoint);
      model_before_ = checkpoint.model;
    }
    world().barrier();
  }

  void go_on(BadStepKind on_bad_step) const {
    train_until(kSteps, 1, fp16_, "replicas", on_bad_step);
    train_until(kSteps, world().size(), fp16_, "stages", on_bad_step);
    if (is_root()) expect_same_end("replicas", "stages");
  }

  // Where nothing was applied, all but the running statistics of batch norms is as it was.
  void expect_untouched_parameters() const {
    const std::vector<io::NamedTensor> after = read("stages", kSteps).model;
    ASSERT_EQ(after.size(), model_before_.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (after[i].name.find("running") != std::string::npos) continue;
      EXPECT_TRUE(after[i].values == model_before_[i].values) << after[i].name;
    }
  }

  const StorageWay& fp16_ = *std::ranges::find(kStorageWays, PrecisionKind::kFp16, &StorageWay::precision);
  std::vector<io::NamedTensor> model_before_;  // on rank 0
  static constexpr double kFirstScale = 65536, kSmallestScale = 0x1p-14;
  static constexpr std::int64_t kStepsAfterStop = kSteps - kStepsBeforeStop;
  // Finite in float32, but a cell's output is then beyond fp16's 65504.
  const std::map<std::string, float> infinite_output_ = {{"layer2.1.bn2.weight", 1e7F}};
  // A batch norm of zeros gives its bias, whatever its weight; backward multiplies by weight / sqrt(1e-5).
  const std::map<std::string, float> infinite_gradient_ = {{"layer3.2.conv2.weight", 0},
                                                           {"layer3.2.bn2.weight", 1e20F}};
};

TEST_F(BadStepInFp16, AnInfiniteLossLeavesTheScaleAsItIs) {
  begin_with(infinite_output_, kFirstScale);
  go_on(BadStepKind::kSkip);
  if (!is_root()) return;
  const io::TrainingState state = read("stages", kSteps).state;
  EXPECT_EQ(state.bad_steps, kStepsAfterStop);
  EXPECT_EQ(state.loss_scale, kFirstScale);
  EXPECT_EQ(state.loss_scale_steps, kStepsBeforeStop) << "a bad step is no good one";
  expect_untouched_parameters();
}

TEST_F(BadStepInFp16, AnInfiniteGradientHalvesTheScaleAndIsNoBadStep) {
  begin_with(infinite_gradient_, kFirstScale);
  go_on(BadStepKind::kStop);
  if (!is_root()) return;
  const io::TrainingState state = read("stages", kSteps).state;
  EXPECT_EQ(state.bad_steps, 0);
  EXPECT_EQ(state.loss_scale, kFirstScale / 8) << "halved three times";
  expect_untouched_parameters();
}

TEST_F(BadStepInFp16, AnInfiniteGradientWithTheSmallestScaleIsABadStep) {
  begin_with(infinite_gradient_, kSmallestScale);
  go_on(BadStepKind::kSkip);
  if (!is_root()) return;
  const io::TrainingState state = read("stages", kSteps).state;
  EXPECT_EQ(state.bad_steps, kStepsAfterStop);
  EXPECT_EQ(state.loss_scale, kSmallestScale);
  expect_untouched_parameters();
}

TEST_F(BadStepInFp16, TrainingGoesBackToWeightsAndScaleOfTheCheckpointBefore) {
  train_until(kStepsBeforeStop - 1, 1, fp16_, "before");
  begin_with(infinite_output_, 1024);
  if (is_root())
    for (const char* run : {"replicas", "stages"}) write(run, read("before", kStepsBeforeStop - 1));
  world().barrier();
  go_on(BadStepKind::kRollback);
  if (!is_root()) return;
  const io::TrainingState state = read("stages", kSteps).state;
  EXPECT_EQ(state.rollbacks, 1);
  EXPECT_EQ(state.loss_scale, kFirstScale);
  EXPECT_EQ(state.loss_scale_steps, kSteps) << "all that were applied, those of the checkpoint among them";
}

}  // namespace

}  // namespace convoy::test
