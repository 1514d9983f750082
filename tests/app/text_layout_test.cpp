/// The layout never changes the answer of a network of texts either, although it draws random numbers inside its cells:
/// on imported texts, some longer than it reads, on every grid, after restarts, in bf16, with frozen layers.
#include <cmath>

#include <gtest/gtest.h>

#include "app/runs.h"
#include "app/small_data.h"
#include "unit/io/same_bits.h"

namespace convoy::test {

namespace {

class TextLayout : public Runs {
 protected:
  TextLayout() : Runs(import_small_texts) {}

  /// Trains with arguments_ and features_ on every grid: the same bits as on one rank; with other schedules and more
  /// threads, too.
  void expect_same_bits_everywhere() {
    train("1x1", {1, 1}, kSteps);
    const std::vector<std::string> features = features_;
    features_.push_back("--run.threads=3");
    train("3 threads", {1, 1}, kSteps);
    expect_same_run("1x1", "3 threads", kSteps);
    features_ = features;
    for (const Grid& grid : {Grid{2, 1}, Grid{1, 2}, Grid{2, 2}, Grid{4, 1}, Grid{1, 4}})
      expect_same_bits_on(grid, "1f1b");
    for (const std::string schedule : {"zero_bubble", "interleaved"})
      for (const Grid& grid : {Grid{2, 2}, Grid{4, 1}}) expect_same_bits_on(grid, schedule);
  }
  void expect_same_bits_on(const Grid& grid, const std::string& schedule) {
    const std::string name = name_of(grid) + " " + schedule;
    train(name, grid, kSteps, schedule);
    expect_same_run("1x1", name, kSteps);
  }
  /// Expects that a run with these additional features has other weights: the features have an effect.
  void expect_other_bits(const std::string& name, const std::vector<std::string>& features) {
    features_ = features_ + features;
    train(name, {1, 1}, kSteps);
    EXPECT_NE(checkpoint(name, kSteps).model[0].values, checkpoint("1x1", kSteps).model[0].values);
  }
  double first_loss(const std::string& name) const {
    const std::string rows = read_text((directory_ / name) + "/steps.csv");
    return std::stod(rows.substr(rows.find("\n1,") + 3));
  }

  static constexpr int kSteps = 6;
};

class TextLayoutInDepth : public TextLayout {};

}  // namespace

TEST_F(TextLayout, EveryGridAndScheduleGivesTheSameBitsWithDropout) {
  expect_same_bits_everywhere();
  expect_other_bits("nothing dropped", {"--model.dropout=0"});
}

TEST_F(TextLayoutInDepth, EveryGridAndScheduleGivesTheSameBitsWithNormsBeforeLearnedPositionsAndRecomputing) {
  const std::vector<std::string> other = {"--model.norm=before", "--model.positions=learned",
                                          "--model.activation=gelu"};
  features_ = other + std::vector<std::string>{"--memory.recompute=cell", "--train.clip_norm=0.5"};
  expect_same_bits_everywhere();
  features_ = other + std::vector<std::string>{"--train.clip_norm=0.5"};
  train("all kept", {1, 1}, kSteps);
  expect_same_run("1x1", "all kept", kSteps);
}

TEST_F(TextLayout, Bf16GivesTheSameBitsOnEveryGridAndSchedule) {
  features_ = {"--train.precision=bf16"};
  expect_same_bits_everywhere();
  expect_other_bits("f32", {"--train.precision=f32"});
  // But close to it: the first loss, a mean over values near ln 2, is the result of about 60 roundings to 2^-9.
  EXPECT_NEAR(first_loss("1x1") / first_loss("f32"), 1, std::sqrt(60) * 0x1p-9);
}

TEST_F(TextLayoutInDepth, LambGivesTheSameBitsOnEveryGridAndScheduleAndSparesEmbeddingsWhereAsked) {
  features_ = {"--optimizer.kind=lamb", "--optimizer.lr=0.01", "--optimizer.weight_decay=0.1",
               "--optimizer.decay_embeddings=false", "--train.clip_norm=1"};
  expect_same_bits_everywhere();
  EXPECT_TRUE(checkpoint("1x1", kSteps).optimizer.contains("square"));
  expect_other_bits("embeddings decay", {"--optimizer.decay_embeddings=true"});
}

TEST_F(TextLayout, ARestartOntoAnotherGridInMidEpochGivesTheSameBits) {
  features_ = {"--train.ema_decay=0.9"};
  train("whole", {1, 1}, 12);
  train("pieces", {2, 2}, 5);  // 10 steps per epoch: both cuts are uneven
  train("pieces", {4, 1}, 11, "interleaved");
  train("pieces", {1, 2}, 12, "gpipe", "4");
  expect_same_run("whole", "pieces");
  EXPECT_NE(checkpoint("pieces", 11).model[0].values, checkpoint("whole", 12).model[0].values) << "nothing was trained";
}

TEST_F(TextLayoutInDepth, FrozenLayersKeepTheirBitsOnEveryGrid) {
  train("start", {1, 1}, 3);
  const auto is_frozen = [](const std::string& name) {
    return name.starts_with("embedding.") || name.starts_with("layers.0.") || name == "layers.3.norm2.weight" ||
           name.starts_with("layers.4.self_attn.");
  };
  features_ = {"--train.freeze=embedding.*, layers.0.*, layers.3.norm2.weight, layers.4.self_attn.*",
               "--init.weights=" + io::checkpoint_path((directory_ / "start") + "/checkpoints", 3)};
  expect_same_bits_everywhere();
  const io::Checkpoint start = checkpoint("start", 3), end = checkpoint("1x1", kSteps);
  ASSERT_EQ(end.model.size(), start.model.size());
  for (std::size_t i = 0; i < end.model.size(); ++i) {
    const std::string& name = end.model[i].name;
    EXPECT_EQ(same_bits(end.model[i], start.model[i]), is_frozen(name)) << name;
  }
}

}  // namespace convoy::test
