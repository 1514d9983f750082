/// Data that change while the program reads them, or between two runs: the file is named, and nothing is lost.
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/inspect.h"

#include "app/program.h"
#include "app/small_data.h"

namespace convoy::test {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kImageBytes = 12 * 12;

class ChangedData : public testing::Test {
 protected:
  ChangedData() : arguments_(import_small_data(directory_ / "small")) {}

  ProcessResult train(const std::vector<std::string>& more, int ranks = 0) const {
    return run_program(
        {.arguments = arguments_ + std::vector<std::string>{"--run.directory=" + run_} + more, .ranks = ranks});
  }
  /// Imports the same samples once more, with another pixel in the byte at `changed` of a split's images.
  std::string import_again(const std::string& name, const std::vector<std::string>& more,
                           std::optional<std::size_t> changed, const std::string& split = "train") const {
    const std::string source = directory_ / (name + "-idx");
    fs::copy(directory_ / "small/idx", source);
    if (changed) {
      std::string images = read_text(source + "/" + split + "-images-idx3-ubyte");
      images[*changed] ^= 1;
      write_text(source + "/" + split + "-images-idx3-ubyte", images);
    }
    const ProcessResult import =
        run_program({.arguments = std::vector<std::string>{"import", "--import.source=" + source,
                                                           "--import.output=" + (directory_ / name)} +
                                  more});
    EXPECT_EQ(import.status, 0) << import.output;
    return directory_ / name;
  }
  std::string checkpoint(int step) const { return io::checkpoint_path(run_ + "/checkpoints", step); }

  WorkingDirectory directory_;
  std::vector<std::string> arguments_;
  std::string run_ = directory_ / "run", train_ = directory_ / "small/data/train.h5";
};

/// Starts the program, and calls `change` once `ready` is true.
ProcessResult run_and_change(const Start& start, const std::function<bool()>& ready,
                             const std::function<void()>& change) {
  std::thread changes([&] {
    for (int tick = 0; tick < 6000 && !ready(); ++tick) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // a file that is open is read at once
    change();
  });
  ProcessResult result = run_program(start);
  changes.join();
  return result;
}

// Flips a byte in place. The trailer tells where the images begin (src/io/shard.h).
void flip_byte_of_image(const std::string& path, std::int64_t image) {
  std::string bytes = read_text(path);
  std::uint64_t images = 0;
  std::memcpy(&images, bytes.data() + bytes.size() - 64 + 16, sizeof images);
  bytes[images + static_cast<std::uint64_t>(image * kImageBytes)] ^= 1;
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << bytes;
}

}  // namespace

TEST_F(ChangedData, AFlippedPixelEndsTheRunWithinAnEpochAndTheCheckpointsStay) {
  ASSERT_EQ(train({"--train.max_steps=3"}).status, 0);
  flip_byte_of_image(train_, 639);
  const ProcessResult damaged = train({}, 2);
  EXPECT_EQ(damaged.status, 1) << damaged.output;
  EXPECT_TRUE(contains(damaged.output, "'" + train_ + "' is damaged: the bytes of its image 639 are not those that"))
      << damaged.output;
  EXPECT_EQ(io::verify_file(checkpoint(3)), std::nullopt);
  EXPECT_EQ(train({"--train.max_steps=13", "--data.verify=none"}).status, 0);
}

TEST_F(ChangedData, AShardCutShortWhileItIsTrainedOnIsNamedAndTheRunResumesWithItBack) {
  const std::string whole = read_text(train_);
  const ProcessResult result = run_and_change(
      {.arguments = arguments_ + std::vector<std::string>{"--run.directory=" + run_, "--train.epochs=100000",
                                                          "--checkpoint.every_steps=1", "--lr.schedule=constant"},
       .ranks = 2},
      [&] { return fs::exists(checkpoint(2)); }, [&] { fs::resize_file(train_, whole.size() / 2); });
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_FALSE(result.timed_out);
  EXPECT_TRUE(contains(result.output, "cannot read '" + train_ + "': it ended at byte ")) << result.output;
  EXPECT_TRUE(contains(result.output, "Copy it back or import it again")) << result.output;
  write_text(train_, whole);
  const ProcessResult again = train({"--train.epochs=100000", "--train.max_steps=1", "--lr.schedule=constant"});
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_TRUE(contains(again.output, "resumed: ")) << again.output;
}

TEST_F(ChangedData, AShardCutShortWhileItIsEvaluatedOrPredictedIsNamed) {
  ASSERT_EQ(train({"--train.max_steps=1"}).status, 0);
  const auto large = import_small_data(directory_ / "large", {.num_train = 64, .num_test = 40'000});
  const std::string shard = directory_ / "large/data/test.h5", whole = read_text(shard);
  for (const std::string command : {"evaluate", "predict"}) {
    const ProcessResult result = run_and_change(
        {.arguments = {command, run_ + "/params.cfg", "--data.test=" + shard, "--run.device=cpu"}},
        [&] { return is_open_in_any_rank(shard); }, [&] { fs::resize_file(shard, whole.size() / 2); });
    EXPECT_EQ(result.status, 1) << command << result.output;
    EXPECT_TRUE(contains(result.output, "cannot read '" + shard + "': it ended at byte ")) << command << result.output;
    EXPECT_FALSE(fs::exists(run_ + "/predictions.csv"));
    write_text(shard, whole);
  }
}

// --- Between two runs ------------------------------------------------------------------------------------------------

TEST_F(ChangedData, OtherTrainingImagesAreRefusedOnResumeButForTheKeyThatAllowsThem) {
  ASSERT_EQ(train({"--train.max_steps=2"}).status, 0);
  const std::string other = "--data.train=" + import_again("other", {}, 700);
  const ProcessResult refused = train({"--train.max_steps=4", other}, 2);
  EXPECT_EQ(refused.status, 2) << refused.output;
  EXPECT_TRUE(contains(refused.output, "holds other images or labels than " + checkpoint(2) + " was trained on"))
      << refused.output;
  EXPECT_TRUE(contains(refused.output, "checkpoint.allow_other_data = true")) << refused.output;
  EXPECT_FALSE(fs::exists(checkpoint(4)));
  const ProcessResult allowed = train({"--train.max_steps=4", other, "--checkpoint.allow_other_data=true"}, 2);
  EXPECT_EQ(allowed.status, 0) << allowed.output;
  EXPECT_TRUE(contains(allowed.output, "training continues on them, as checkpoint.allow_other_data asks"))
      << allowed.output;
  const ProcessResult next = train({"--train.max_steps=5", other});
  EXPECT_EQ(next.status, 0) << "these are its data now: " << next.output;
  EXPECT_EQ(train({"--train.max_steps=6"}).status, 2) << "and no longer those of before";
}

TEST_F(ChangedData, TheSameImagesElsewhereInOtherShardsAreTheSameAndGiveTheSameBits) {
  ASSERT_EQ(train({"--train.max_steps=4"}).status, 0);
  const io::Checkpoint want = io::decode_checkpoint(io::read_file(checkpoint(4)), "");
  fs::remove_all(run_);
  ASSERT_EQ(train({"--train.max_steps=2"}).status, 0);
  const std::string shards = import_again("elsewhere", {"--import.shards=5"}, std::nullopt);
  const ProcessResult result = train({"--train.max_steps=4", "--data.train=" + shards, "--data.test=" + shards});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_FALSE(contains(result.output, "warning")) << result.output;
  const io::Checkpoint got = io::decode_checkpoint(io::read_file(checkpoint(4)), "");
  EXPECT_EQ(got.state.train_hash, want.state.train_hash);
  EXPECT_EQ(got.state.metric_hash, want.state.metric_hash);
  ASSERT_EQ(got.model.size(), want.model.size());
  for (std::size_t i = 0; i < want.model.size(); ++i) EXPECT_EQ(got.model[i].values, want.model[i].values) << i;
}

/// Applies `change` to the state in the run's checkpoint.
template <typename Change>
void rewrite(const std::string& path, const Change& change) {
  io::Checkpoint checkpoint = io::decode_checkpoint(io::read_file(path), path);
  change(checkpoint.state);
  io::write_file_atomically(path, io::encode_checkpoint(checkpoint));
}

// 10 steps per epoch. A best value of 100 % cannot be beaten by a measurement on the same data.
TEST_F(ChangedData, OtherTestImagesBeginTheBestValueAndThePatienceAnew) {
  const std::vector<std::string> patient = {"--train.patience_epochs=1", "--lr.schedule=constant",
                                            "--checkpoint.keep=0"};
  ASSERT_EQ(train(patient + std::vector<std::string>{"--train.max_steps=20"}).status, 0);
  fs::remove(io::best_checkpoint_path(run_ + "/checkpoints"));
  rewrite(checkpoint(20),
          [](io::TrainingState& state) { state.best_value = 1, state.best_step = state.improved_step = 10; });
  const ProcessResult same = train(patient);
  EXPECT_TRUE(contains(same.output, "ended early: step 20 of 30")) << same.output;

  const std::string other = import_again("other", {}, 700, "t10k");
  const ProcessResult result = train(patient + std::vector<std::string>{"--data.test=" + other});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "data.test = " + other +
                                          " holds other images or labels than the best top-1 100.00 % at step 10 "
                                          "was measured on"))
      << result.output;
  EXPECT_TRUE(contains(result.output, "done: step 30 of 30")) << result.output;
  const std::string best = io::best_checkpoint_path(run_ + "/checkpoints");
  ASSERT_TRUE(fs::exists(best));
  EXPECT_EQ(io::decode_checkpoint(io::read_file(best), best).state.best_step, 30);
}

TEST_F(ChangedData, ACheckpointThatDoesNotSayItsDataIsResumedWithAWarning) {
  ASSERT_EQ(train({"--train.max_steps=2"}).status, 0);
  rewrite(checkpoint(2), [](io::TrainingState& state) { state.train_hash = state.metric_hash = 0; });
  fs::remove(io::best_checkpoint_path(run_ + "/checkpoints"));
  const ProcessResult result = train({"--train.max_steps=4"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, checkpoint(2) + " was written by an older Convoy and does not say which images"))
      << result.output;
  EXPECT_FALSE(contains(train({"--train.max_steps=5"}).output, "warning")) << "the next one says it";
}

}  // namespace convoy::test
