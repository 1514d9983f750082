/// Whole runs in 16-bit storage, images and evaluation included: stopped, and gone on with.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"
#include "convoy/run/trainer.h"

#include "parallel/mpi_main.h"
#include "parallel/shared_directory.h"
#include "parallel/storage_ways.h"
#include "unit/io/dataset_samples.h"
#include "watch/status_board.h"

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

  void train_until(std::int64_t step, std::int64_t stages, const StorageWay& way, const std::string& run) const {
    Parameters params;
    params.data.train = directory_ / "train";
    params.data.test = directory_ / "test";
    params.batch = {.global = 8, .micro = 2};
    params.grid.stages = stages;
    params.optimizer.lr = 0.05;
    params.train.epochs = 3;
    params.train.max_steps = step;
    params.train.precision = way.precision;
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

}  // namespace

}  // namespace convoy::test
