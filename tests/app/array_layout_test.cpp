/// The layout never changes the answer of a network of arrays: from shards to checkpoints, on every grid, after
/// restarts, in bf16, with inputs that several stages read.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/runs.h"
#include "app/small_arrays.h"
#include "app/small_data.h"
#include "unit/messages.h"

namespace convoy::test {

namespace {

class ArrayLayout : public Runs {
 protected:
  ArrayLayout() : Runs(write_small_classes) {}
  explicit ArrayLayout(ImportData& import_data) : Runs(import_data) {}

  /// Trains another network, without settings: --model.name=... or --model.file=...
  void use_network(const std::string& argument) {
    std::erase_if(arguments_, [](const std::string& old) { return old.starts_with("--model."); });
    arguments_.push_back(argument);
  }
  /// Trains with features_ on every grid: the same bits as on one rank, with more threads, too, and if the run is
  /// resumed on other grids.
  void expect_same_bits_everywhere() {
    train("1x1", {1, 1}, kSteps);
    const std::vector<std::string> features = features_;
    features_ = features + std::vector<std::string>{"--run.threads=3", "--data.loader_threads=3"};
    train("3 threads", {1, 1}, kSteps);
    expect_same_run("1x1", "3 threads", kSteps);
    features_ = features;
    for (const Grid& grid : {Grid{2, 1}, Grid{1, 2}, Grid{2, 2}}) {
      train(name_of(grid), grid, kSteps);
      expect_same_run("1x1", name_of(grid), kSteps);
    }
    train("zero bubble", {2, 2}, kSteps, "zero_bubble");
    expect_same_run("1x1", "zero bubble", kSteps);
    train("pieces", {2, 2}, 3);
    train("pieces", {1, 2}, 11);  // 10 steps per epoch
    train("pieces", {2, 1}, kSteps);
    expect_same_run("1x1", "pieces", kSteps);
  }
  /// Expects that a run with these additional features has other weights: the features have an effect.
  void expect_other_bits(const std::string& name, const std::vector<std::string>& features) {
    const std::vector<std::string> before = features_;
    features_ = features_ + features;
    train(name, {1, 1}, kSteps);
    EXPECT_NE(checkpoint(name, kSteps).model[0].values, checkpoint("1x1", kSteps).model[0].values) << name;
    features_ = before;
  }

  static constexpr int kSteps = 12;
};

class NumberLayout : public ArrayLayout {
 protected:
  NumberLayout() : ArrayLayout(write_small_numbers) {}
};

class LabelLayout : public ArrayLayout {
 protected:
  LabelLayout() : ArrayLayout(write_small_labels) {}
};

class RowLayout : public ArrayLayout {
 protected:
  RowLayout() : ArrayLayout(write_small_rows) {}
};

class FieldLayout : public ArrayLayout {
 protected:
  FieldLayout() : ArrayLayout(write_small_fields) {}
};

// A network whose second cell reads an array, too.
constexpr const char* kTwoReaders = R"(network{reads = "arrays"}
local x = cell("of_spectrum", function() return relu(linear("fc", feature("spectrum"), 16)) end)
x = cell("of_patch", function(x)
  local patch = global_average_pool(relu(conv("conv", feature("patch"), {8, kernel = 3})))
  return relu(linear("fc", concat(x, patch), 16))
end, x)
x = cell("hidden", function(x) return relu(linear("fc", x, 16)) end, x)
return cell("head", function(x) return logits("fc", x, num_classes) end, x)
)";

}  // namespace

TEST_F(ArrayLayout, APerceptronGivesTheSameBitsOnEveryGridAndResumed) {
  expect_same_bits_everywhere();
  EXPECT_CONTAINS(output_, "640 training samples of spectrum (20), patch (6, 5, 7), 4 classes");
  expect_other_bits("as they are", {"--augment.normalize=false"});
  const ProcessResult evaluated =
      run_program({.arguments = {"evaluate", directory_ / "1x1", "--data.test=" + (directory_ / "small/test")}});
  EXPECT_EQ(evaluated.status, 0) << evaluated.output;
  EXPECT_CONTAINS(evaluated.output, "96 samples");
}

TEST_F(ArrayLayout, ANetworkWhoseStagesReadOtherArraysGivesTheSameBitsOnEveryGrid) {
  write_text(directory_ / "two.lua", kTwoReaders);
  use_network("--model.file=" + (directory_ / "two.lua"));
  expect_same_bits_everywhere();
  train("4x1", {4, 1}, kSteps);
  expect_same_run("1x1", "4x1", kSteps);
}

TEST_F(ArrayLayout, Bf16GivesTheSameBitsOnEveryGrid) {
  features_ = {"--train.precision=bf16", "--data.limit=80 %"};
  expect_same_bits_everywhere();
  expect_other_bits("f32", {"--train.precision=f32"});
}

TEST_F(ArrayLayout, AllAugmentationsGiveTheSameBitsOnEveryGrid) {
  const std::vector<std::string> all = {"--augment.crop_padding=1", "--augment.border=reflect", "--augment.flip=true",
                                        "--augment.flip_rows=true", "--augment.factor=0.2",     "--augment.noise=0.1",
                                        "--augment.mixup=0.4"};
  features_ = all;
  expect_same_bits_everywhere();
  for (const std::string other : {"border=black", "flip=false", "flip_rows=false", "factor=0", "noise=0", "mixup=0"})
    expect_other_bits(other, {"--augment." + other});
}

TEST_F(NumberLayout, APerceptronGivesTheSameBitsOnEveryGridAndResumed) {
  features_ = {"--augment.mixup=0.4", "--augment.noise=0.1"};
  expect_same_bits_everywhere();
  EXPECT_CONTAINS(output_, "640 training samples of spectrum (20), patch (6, 5, 7), 2 numbers");
  expect_other_bits("not mixed", {"--augment.mixup=0"});
}

TEST_F(LabelLayout, APerceptronGivesTheSameBitsOnEveryGridAndResumed) {
  features_ = {"--train.class_weights=1,2,0.5,3", "--augment.mixup=0.4", "--augment.factor=0.2"};
  expect_same_bits_everywhere();
  EXPECT_CONTAINS(output_, "640 training samples of spectrum (20), patch (6, 5, 7), 4 labels");
  expect_other_bits("not weighted", {"--train.class_weights="});
}

// Each replica has two of six micro-batches.
TEST_F(LabelLayout, ThreeReplicasGiveTheSameBitsAsOneRank) {
  std::ranges::replace(arguments_, std::string("--batch.global=64"), std::string("--batch.global=48"));
  train("1x1", {1, 1}, kSteps);
  for (const Grid& grid : {Grid{1, 3}, Grid{2, 3}}) {
    train(name_of(grid), grid, kSteps);
    expect_same_run("1x1", name_of(grid), kSteps);
  }
  train("pieces", {2, 3}, 5);
  train("pieces", {2, 1}, kSteps);
  expect_same_run("1x1", "pieces", kSteps);
}

TEST_F(RowLayout, TwoLayersGiveTheSameBitsOnEveryGridAndResumed) {
  features_ = {"--train.loss=huber"};
  expect_same_bits_everywhere();
  EXPECT_CONTAINS(output_, "640 training samples of values (3, 32), 192 numbers");
}

// The last stage reads the fields, and moves them as the first stage moves the images.
TEST_F(FieldLayout, MovedImagesAndFieldsGiveTheSameBitsOnEveryGridAndResumed) {
  features_ = {"--train.loss=huber", "--augment.flip=true", "--augment.flip_rows=true", "--augment.turn=true",
               "--augment.crop_padding=2"};
  expect_same_bits_everywhere();
  EXPECT_CONTAINS(output_, "640 training samples of image (8, 8, 3), 2 numbers at each of 8 x 8 pixels");
  train("3x1", {3, 1}, kSteps);
  expect_same_run("1x1", "3x1", kSteps);
  expect_other_bits("not turned", {"--augment.turn=false"});
  expect_other_bits("mse", {"--train.loss=mse"});
}

TEST_F(ArrayLayout, KeysOfImagesAndNetworksOfTextsAreRefusedByName) {
  const auto refusal = [&](const std::vector<std::string>& more) {
    const ProcessResult result = run_program(
        {.arguments = arguments_ + more + std::vector<std::string>{"--run.directory=" + (directory_ / "refused")}});
    EXPECT_EQ(result.status, 2) << result.output;
    return result.output;
  };
  EXPECT_CONTAINS(refusal({"--augment.cutout=4"}),
                  "augment.cutout = 4 changes images, and made for a test holds arrays");
  EXPECT_CONTAINS(refusal({"--augment.mean=imagenet", "--augment.stddev=imagenet"}),
                  "augment.mean and augment.stddev are those of images");
  use_network("--model.name=resnet20");
  EXPECT_CONTAINS(refusal({}), "the network reads images, and the data holds arrays: spectrum (20), patch (6, 5, 7)");
  use_network("--model.name=transformer");
  EXPECT_CONTAINS(refusal({}), "the network reads text, and the data holds");
}

}  // namespace convoy::test
