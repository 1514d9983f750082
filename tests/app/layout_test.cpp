/// The layout never changes the answer: checkpoints and losses have the same bits on every grid, with every schedule,
/// and after a restart onto another grid.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/runs.h"
#include "app/small_data.h"

namespace convoy::test {

namespace {

class Layout : public Runs {
 protected:
  void use_network(const std::string& name) {
    std::replace(arguments_.begin(), arguments_.end(), std::string("--model.name=resnet20"), "--model.name=" + name);
  }

  // Trains with the features of this test on every grid, and after a restart within an epoch onto another one.
  void expect_same_bits_everywhere(const std::vector<std::string>& features) {
    features_ = features;
    train("1x1", {1, 1}, 6);
    for (const Grid& grid : {Grid{2, 1}, Grid{1, 2}, Grid{2, 2}, Grid{4, 1}}) {
      train(name_of(grid), grid, 6);
      expect_same_run("1x1", name_of(grid), 6);
    }
    train("pieces", {2, 2}, 3);
    train("pieces", {1, 2}, 6, "1f1b", "4");
    expect_same_run("1x1", "pieces", 6);
  }

  // Compares the schedule on every grid with 1f1b on one rank, with all features that a backward pass depends on.
  void expect_same_bits_as_1f1b(const std::string& schedule, const std::vector<Grid>& grids,
                                const std::string& chunks = "2") {
    const std::vector<std::vector<std::string>> features = {
        {},
        {"--memory.recompute=cell", "--train.clip_norm=0.5"},
        {"--train.precision=bf16", "--train.freeze=conv1.*,bn1.*,layer1.0.*,layer2.1.conv1.*"}};
    for (std::size_t k = 0; k < features.size(); ++k) {
      features_ = features[k];
      const std::string expected = "1f1b, features " + std::to_string(k);
      train(expected, {1, 1}, 6);
      features_.push_back("--schedule.chunks=" + chunks);
      for (const Grid& grid : grids) {
        const std::string name = schedule + " " + name_of(grid) + ", features " + std::to_string(k);
        train(name, grid, 6, schedule);
        expect_same_run(expected, name, 6);
      }
    }
  }
};

class LayoutInDepth : public Layout {};

}  // namespace

TEST_F(Layout, EveryGridGivesTheSameBits) {
  train("1x1", {1, 1}, 12);
  for (const Grid& grid : {Grid{2, 1}, Grid{1, 2}, Grid{2, 2}, Grid{4, 1}, Grid{1, 4}, Grid{4, 2}}) {
    const std::string name = name_of(grid);
    train(name, grid, 12);
    expect_same_run("1x1", name);
  }
  // And the test can fail: training has moved on since step 6.
  train("other", {1, 1}, 6);
  EXPECT_NE(checkpoint("other", 6).model[0].values, checkpoint("1x1", 12).model[0].values);
}

TEST_F(Layout, EveryNumberOfThreadsGivesTheSameBits) {
  for (const std::string network : {"resnet20", "resnet18"}) {
    for (const std::string precision : {"f32", "bf16"}) {
      const auto train_with = [&](const std::string& threads, const Grid& grid, int steps = 3) {
        features_ = {"--model.name=" + network, "--train.precision=" + precision, "--run.threads=" + threads};
        train(fmt::format("{} {} {} {}", network, precision, name_of(grid), threads), grid, steps);
      };
      const auto run = [&](const std::string& suffix) { return fmt::format("{} {} {}", network, precision, suffix); };
      train_with("1", {1, 1});
      train_with("3", {1, 1});
      expect_same_run(run("1x1 1"), run("1x1 3"), 3);
      train_with("2", {2, 1});
      expect_same_run(run("1x1 1"), run("2x1 2"), 3);
    }
  }
}

// Powers of two exchange by halving, 3, 6 and 12 replicas in the phases of their factors.
TEST_F(LayoutInDepth, ManyReplicasGiveTheSameBitsWithAllThatTheyExchange) {
  struct Case {
    std::string name;
    int micro_batches;
    std::vector<int> replicas;
    std::vector<std::string> features;
  };
  const std::vector<Case> cases = {
      {"sixteen", 16, {2, 4, 8, 16}, {"--optimizer.kind=lars", "--train.clip_norm=0.5", "--train.ema_decay=0.9"}},
      {"in bf16", 16, {16}, {"--train.precision=bf16", "--optimizer.kind=adamw", "--optimizer.lr=0.01"}},
      {"twelve", 12, {3, 6, 12}, {"--optimizer.kind=lars", "--train.clip_norm=0.5", "--train.ema_decay=0.9"}}};
  for (const Case& c : cases) {
    features_ = c.features;
    features_.push_back("--batch.global=" + std::to_string(2 * c.micro_batches));
    features_.push_back("--batch.micro=2");
    train(c.name, {1, 1}, 6);
    for (const int replicas : c.replicas) {
      const std::string run = c.name + ", " + std::to_string(replicas);
      train(run, {1, replicas}, 6);
      expect_same_run(c.name, run, 6);
    }
    const std::string pieces = c.name + ", in pieces";
    int step = 0;
    for (const int replicas : {c.replicas.back(), c.replicas.front()}) train(pieces, {1, replicas}, step += 3);
    expect_same_run(c.name, pieces, 6);
  }
}

TEST_F(Layout, EveryScheduleGivesTheSameBits) {
  train("1f1b", {2, 2}, 12);
  for (const std::string schedule : {"naive", "gpipe", "zero_bubble", "interleaved"}) {
    train(schedule, {2, 2}, 12, schedule);
    expect_same_run("1f1b", schedule);
  }
}

TEST_F(LayoutInDepth, ZeroBubbleGivesTheSameBitsOnEveryGridWhateverABackwardHasToDo) {
  expect_same_bits_as_1f1b("zero_bubble", {{1, 1}, {2, 1}, {2, 2}, {4, 1}});
}

TEST_F(Layout, InterleavedChunksGiveTheSameBitsOnEveryGrid) {
  expect_same_bits_as_1f1b("interleaved", {{1, 1}, {2, 1}, {2, 2}, {4, 1}});
  EXPECT_NE(output_.find("schedule interleaved, 2 chunks per stage"), std::string::npos) << output_;
}

TEST_F(LayoutInDepth, ThreeInterleavedChunksGiveTheSameBits) {
  expect_same_bits_as_1f1b("interleaved", {{2, 1}, {2, 2}, {3, 1}}, "3");
}

TEST_F(Layout, ARestartFromAndOntoChunksGivesTheSameBits) {
  features_ = {"--optimizer.kind=adam", "--optimizer.lr=0.002", "--train.ema_decay=0.9"};
  train("whole", {1, 1}, 12);
  features_.push_back("--schedule.chunks=3");
  train("pieces", {2, 2}, 5, "interleaved");
  train("pieces", {1, 2}, 7);
  train("pieces", {3, 1}, 12, "interleaved", "4");
  expect_same_run("whole", "pieces");
}

TEST_F(Layout, ARestartOntoAnotherGridInMidEpochGivesTheSameBits) {
  train("whole", {1, 1}, 12);
  train("pieces", {2, 2}, 5);  // 10 steps per epoch: both cuts are uneven
  train("pieces", {4, 1}, 11);
  train("pieces", {1, 2}, 12, "gpipe", "4");
  expect_same_run("whole", "pieces");
}

TEST_F(LayoutInDepth, AdamGivesTheSameBitsOnEveryGrid) {
  expect_same_bits_everywhere({"--optimizer.kind=adam", "--optimizer.lr=0.002", "--augment.border=reflect"});
  EXPECT_TRUE(checkpoint("1x1", 6).optimizer.contains("mean"));
  EXPECT_TRUE(checkpoint("1x1", 6).optimizer.contains("square"));
  features_ = {"--optimizer.kind=adam", "--optimizer.lr=0.002"};
  train("black", {1, 1}, 6);
  EXPECT_NE(checkpoint("black", 6).model[0].values, checkpoint("1x1", 6).model[0].values);
}

TEST_F(Layout, AdamWClippedAndAveragedGivesTheSameBitsOnEveryGrid) {
  expect_same_bits_everywhere({"--optimizer.kind=adamw", "--optimizer.lr=0.002",
                               "--optimizer.decay_norms_and_biases=false", "--train.clip_norm=0.5",
                               "--train.ema_decay=0.9"});
  const io::Checkpoint last = checkpoint("1x1", 6);
  ASSERT_EQ(last.ema.size(), last.model.size());
  EXPECT_NE(last.ema[0].values, last.model[0].values);
  // And clipping has an effect: without it the weights differ.
  features_ = {"--optimizer.kind=adamw", "--optimizer.lr=0.002", "--optimizer.decay_norms_and_biases=false"};
  train("unclipped", {1, 1}, 6);
  EXPECT_NE(checkpoint("unclipped", 6).model[0].values, last.model[0].values);
}

TEST_F(LayoutInDepth, LarsClippedGivesTheSameBitsOnEveryGrid) {
  expect_same_bits_everywhere({"--optimizer.kind=lars", "--optimizer.lr=2", "--train.clip_norm=1"});
}

// Slices begin and end within tensors of other groups than their neighbours'; some are frozen.
TEST_F(LayoutInDepth, GroupsWithRatesOfTheirOwnGiveTheSameBitsOnEveryGrid) {
  expect_same_bits_everywhere({"--optimizer.groups=*bn*: 3, layer2.*: 0.3, fc.bias: 10",
                               "--train.freeze=layer1.0.*, layer2.1.conv1.*", "--optimizer.nesterov=true"});
  features_ = {"--train.freeze=layer1.0.*, layer2.1.conv1.*", "--optimizer.nesterov=true"};
  train("one rate", {1, 1}, 6);
  EXPECT_NE(checkpoint("one rate", 6).model[0].values, checkpoint("1x1", 6).model[0].values);
}

TEST_F(LayoutInDepth, Bf16GivesTheSameBitsOnEveryGrid) {
  expect_same_bits_everywhere({"--train.precision=bf16"});
  // And the training was not in float32, though close to it: the loss of the first step is a mean over values near ln
  // 10, the result of 40 roundings to 2^-9.
  const auto first_loss = [&](const std::string& name) {
    const std::string rows = read_text((directory_ / name) + "/steps.csv");
    return std::stod(rows.substr(rows.find("\n1,") + 3));
  };
  features_ = {};
  train("f32", {1, 1}, 6);
  EXPECT_NE(checkpoint("f32", 6).model[0].values, checkpoint("1x1", 6).model[0].values);
  EXPECT_NEAR(first_loss("1x1") / first_loss("f32"), 1, std::sqrt(40) * 0x1p-9);
}

TEST_F(Layout, RecomputedCellsGiveTheSameBitsOnEveryGrid) {
  train("kept", {1, 1}, 6);
  expect_same_bits_everywhere({"--memory.recompute=cell"});
  expect_same_run("kept", "1x1", 6);
}

// Channels that no vector divides, shortcuts padded with zeros.
TEST_F(LayoutInDepth, APyramidNetGivesTheSameBitsOnEveryGrid) {
  use_network("pyramidnet20-a26");
  expect_same_bits_everywhere({});
  std::map<std::string, std::vector<std::int64_t>> dims;
  for (const io::NamedTensor& tensor : checkpoint("1x1", 6).model) dims[tensor.name] = tensor.dims;
  EXPECT_EQ(dims.at("fc.weight"), (std::vector<std::int64_t>{4, 16 + 26}));
}

// A shortcut that reads the first ReLU's result, as the convolution parallel to it does.
TEST_F(LayoutInDepth, AWideResnetGivesTheSameBitsOnEveryGrid) {
  use_network("wrn10-1");
  expect_same_bits_everywhere({});
}

// Convolutions in 32 groups; 23 million parameters, so two steps.
TEST_F(LayoutInDepth, AResnextGivesTheSameBits) {
  use_network("resnext50_32x4d");
  const std::string bucket_mib = "4";
  train("1x1", {1, 1}, 2, "1f1b", bucket_mib);
  train("2x2", {2, 2}, 2, "1f1b", bucket_mib);
  expect_same_run("1x1", "2x2", 2);
  features_ = {"--memory.recompute=cell"};
  train("2x1", {2, 1}, 2, "zero_bubble", bucket_mib);
  expect_same_run("1x1", "2x1", 2);
}

// Biases, layer norms and layer scales; whole samples are dropped.
TEST_F(LayoutInDepth, AConvnextGivesTheSameBitsOnEveryGrid) {
  use_network("convnext_atto");
  const std::vector<std::string> features = {"--augment.size=32", "--augment.crop=random_resized",
                                             "--augment.crop_padding=0", "--model.stochastic_depth=0.5"};
  expect_same_bits_everywhere(features);
  features_ = features;
  features_.back() = "--model.stochastic_depth=0";
  train("all blocks", {1, 1}, 6);
  EXPECT_NE(checkpoint("all blocks", 6).model[0].values, checkpoint("1x1", 6).model[0].values);
  for (const std::string feature :
       {"--memory.recompute=cell", "--train.precision=bf16", "--train.freeze=features.3.*"}) {
    features_ = features;
    features_.push_back(feature);
    train("1x1" + feature, {1, 1}, 3);
    train("2x1" + feature, {2, 1}, 3, "zero_bubble");
    expect_same_run("1x1" + feature, "2x1" + feature, 3);
  }
}

// Attention over patches, a class token, learned positions.
TEST_F(LayoutInDepth, AVisionTransformerGivesTheSameBitsOnEveryGrid) {
  use_network("vit_ti_8");
  expect_same_bits_everywhere({"--augment.size=16", "--augment.crop=random_resized", "--augment.crop_padding=0",
                               "--optimizer.kind=adamw", "--optimizer.lr=1e-3", "--model.stochastic_depth=0.3"});
}

TEST_F(Layout, AllAugmentationsGiveTheSameBitsOnEveryGrid) {
  const std::vector<std::string> all = {
      "--augment.size=16",        "--augment.crop=random_resized", "--augment.crop_padding=0", "--augment.scale=0.3",
      "--augment.brightness=0.4", "--augment.contrast=0.4",        "--augment.saturation=0.4", "--augment.cutout=4",
      "--augment.mixup=0.4",      "--train.label_smoothing=0.1",   "--data.loader_threads=2"};
  expect_same_bits_everywhere(all);
  // And each of these does something.
  for (const std::string without : {"brightness", "contrast", "cutout", "mixup"}) {
    features_ = all + std::vector<std::string>{"--augment." + without + "=0"};
    train(without, {1, 1}, 6);
    EXPECT_NE(checkpoint(without, 6).model[0].values, checkpoint("1x1", 6).model[0].values) << without;
  }
}

TEST_F(LayoutInDepth, CutMixErasingAndBalancedSamplingGiveTheSameBitsOnEveryGrid) {
  const std::vector<std::string> all = {"--augment.cutmix=1", "--augment.mixup=0.4", "--augment.erase=0.5",
                                        "--data.balanced=true"};
  expect_same_bits_everywhere(all);
  // And each of these does something.
  for (const std::string other :
       {"--augment.cutmix=0", "--augment.mixup=0", "--augment.erase=0", "--data.balanced=false"}) {
    features_ = all;
    features_.push_back(other);
    train(other, {1, 1}, 6);
    EXPECT_NE(checkpoint(other, 6).model[0].values, checkpoint("1x1", 6).model[0].values) << other;
  }
}

TEST_F(LayoutInDepth, PoliciesOfEditsAndClassWeightsGiveTheSameBitsOnEveryGrid) {
  const std::vector<std::string> all = {"--augment.policy=randaugment", "--train.class_weights=1, 2, 0.5, 3"};
  expect_same_bits_everywhere(all);
  for (const std::string other : {"--augment.policy=trivialaugment", "--augment.policy=none",
                                  "--augment.policy_magnitude=20", "--train.class_weights=balanced"}) {
    features_ = all;
    features_.push_back(other);
    train(other, {1, 1}, 6);
    EXPECT_NE(checkpoint(other, 6).model[0].values, checkpoint("1x1", 6).model[0].values) << other;
  }
}

TEST_F(Layout, EpochRowsAreTheSameAfterARestartInMidEpoch) {
  const auto row_of_epoch_1 = [&](const std::string& name) {
    const std::string text = read_text((directory_ / name) + "/log.csv");
    const std::size_t begin = text.find("\n1,") + 1;
    std::size_t end = begin;
    for (int comma = 0; comma < 8; ++comma) end = text.find(',', end) + 1;  // timings differ
    return text.substr(begin, end - begin);
  };
  train("whole", {1, 1}, 10);
  train("pieces", {2, 1}, 7);
  train("pieces", {1, 2}, 10);
  EXPECT_EQ(row_of_epoch_1("whole"), row_of_epoch_1("pieces"));
  EXPECT_EQ(row_of_epoch_1("whole").substr(0, 9), "1,10,640,");
}

TEST_F(Layout, FastReductionTrainsTooAndSaysWhatItCosts) {
  const ProcessResult result =
      run_program({.arguments = arguments_ + std::vector<std::string>{"--train.max_steps=3", "--run.reduction=fast",
                                                                      "--run.directory=" + (directory_ / "fast")},
                   .ranks = 2});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_NE(result.output.find("only runs with 2 replicas will give the same bits"), std::string::npos)
      << result.output;
  // Another order of the same sums: equal to the invariant run within float32's rounding, through three steps.
  train("invariant", {1, 2}, 3);
  const io::Checkpoint fast = checkpoint("fast", 3), invariant = checkpoint("invariant", 3);
  for (std::size_t i = 0; i < fast.model.size(); ++i)
    for (std::size_t j = 0; j < fast.model[i].values.size(); ++j)
      ASSERT_NEAR(fast.model[i].values[j], invariant.model[i].values[j], 1e-3) << fast.model[i].name;
}

TEST_F(Layout, UnequalSharesOfMicroBatchesAreSaid) {
  const ProcessResult result =
      run_program({.arguments = arguments_ + std::vector<std::string>{"--train.max_steps=2",
                                                                      "--run.directory=" + (directory_ / "three")},
                   .ranks = 3});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_NE(result.output.find("only runs with 3 replicas"), std::string::npos) << result.output;
  // Other groups of the same sums: equal within float32's rounding, through two steps.
  train("one", {1, 1}, 2);
  const io::Checkpoint three = checkpoint("three", 2), one = checkpoint("one", 2);
  for (std::size_t i = 0; i < three.model.size(); ++i)
    for (std::size_t j = 0; j < three.model[i].values.size(); ++j)
      ASSERT_NEAR(three.model[i].values[j], one.model[i].values[j], 1e-3) << three.model[i].name;
}

}  // namespace convoy::test
