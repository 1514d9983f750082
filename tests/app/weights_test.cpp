/// Weights are exported, loaded again, fine-tuned, frozen.
#include <cmath>
#include <filesystem>
#include <regex>
#include <stdexcept>

#include <gtest/gtest.h>

#include "convoy/io/atomic_file.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/safetensors.h"

#include "app/runs.h"
#include "app/small_data.h"
#include "unit/io/same_bits.h"

namespace convoy::test {

namespace {

using Tensors = std::vector<io::NamedTensor>;

class Weights : public testing::Test {
 protected:
  Weights() : arguments_(import_small_data(directory_ / "small")) {}

  struct Run {
    std::string name;
    std::vector<std::string> more = {};
    int ranks = 0, steps = 3;
  };
  std::string run_directory(const std::string& name) const { return directory_ / name; }
  /// Cuts follow modelled costs: to measure them would take most of such short runs.
  std::vector<std::string> arguments_of(const Run& run) const {
    return arguments_ +
           std::vector<std::string>{"--train.max_steps=" + std::to_string(run.steps), "--plan.measure=false",
                                    "--run.directory=" + run_directory(run.name)} +
           run.more;
  }
  ProcessResult train(const Run& run) const {
    return run_program({.arguments = arguments_of(run), .ranks = run.ranks});
  }
  std::string checkpoint_path(const std::string& name, int step = 3) const {
    return io::checkpoint_path(run_directory(name) + "/checkpoints", step);
  }
  Tensors model(const std::string& name, int step = 3) const {
    return read_checkpoint(checkpoint_path(name, step)).model;
  }
  ProcessResult export_to(const std::string& path, const std::vector<std::string>& more) const {
    return run_program({.arguments = std::vector<std::string>{"export", "--export.output=" + path} + more});
  }
  // Returns "loss 1.2345  top-1 25.00 %".
  std::string scores(const std::string& weights, int ranks = 0) const {
    std::vector<std::string> arguments = arguments_ + std::vector<std::string>{"--init.weights=" + weights};
    arguments[0] = "evaluate";
    const ProcessResult result = run_program({.arguments = arguments, .ranks = ranks});
    std::smatch match;
    EXPECT_TRUE(std::regex_search(result.output, match, std::regex("loss [0-9.]+  top-1 [0-9.]+ %"))) << result.output;
    return match.str();
  }

  WorkingDirectory directory_;
  std::vector<std::string> arguments_;
};

class WeightsInDepth : public Weights {};

const io::NamedTensor& find(const Tensors& tensors, const std::string& name) {
  for (const io::NamedTensor& tensor : tensors)
    if (tensor.name == name) return tensor;
  throw std::runtime_error("no tensor " + name);
}

}  // namespace

TEST_F(Weights, AnExportHasTheCheckpointsBitsAndItsScores) {
  ASSERT_EQ(train({.name = "run"}).status, 0);
  const std::string exported = directory_ / "exported.safetensors";
  const ProcessResult result = export_to(exported, {"--run.directory=" + run_directory("run")});
  ASSERT_EQ(result.status, 0) << result.output;
  const io::StateDict dict = io::decode_safetensors(io::read_file(exported), exported);
  const Tensors trained = model("run");
  expect_same_bits(dict.tensors, trained);
  ASSERT_EQ(dict.counters.size(), 19u) << "one a batch norm";
  for (const auto& [name, count] : dict.counters) EXPECT_EQ(count, 3) << name;
  EXPECT_EQ(scores(exported), scores(checkpoint_path("run")));
  EXPECT_EQ(scores(exported, 2), scores(exported));
}

TEST_F(Weights, TrainingGoesOnAlikeFromAnExportAndFromTheCheckpoint) {
  ASSERT_EQ(train({.name = "run"}).status, 0);
  const std::string exported = directory_ / "exported.safetensors";
  ASSERT_EQ(export_to(exported, {"--init.weights=" + checkpoint_path("run")}).status, 0);
  ASSERT_EQ(train({.name = "a", .more = {"--init.weights=" + checkpoint_path("run")}}).status, 0);
  ASSERT_EQ(train({.name = "b", .more = {"--init.weights=" + exported, "--grid.stages=2"}, .ranks = 4}).status, 0);
  const Tensors a = model("a"), b = model("b"), before = model("run");
  expect_same_bits(b, a);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_FALSE(same_bits(a[i], before[i])) << a[i].name;
}

TEST_F(Weights, ATunedRunIsMeasuredByItsOwnCheckpoints) {
  ASSERT_EQ(train({.name = "run", .steps = 1}).status, 0);
  const std::string base = checkpoint_path("run", 1), tuned = run_directory("tuned") + "/checkpoints/best.h5";
  ASSERT_EQ(train({.name = "tuned", .more = {"--init.weights=" + base}, .steps = 1}).status, 0);
  const std::string exported = directory_ / "exported.safetensors", params = run_directory("tuned") + "/params.cfg";
  const ProcessResult own = export_to(exported, {params});
  EXPECT_TRUE(contains(own.output, tuned + ": ")) << own.output;
  EXPECT_FALSE(contains(own.output, "warning")) << own.output;
  const ProcessResult best = export_to(exported, {params, "--checkpoint.resume=best"});
  EXPECT_TRUE(contains(best.output, tuned + ": ")) << best.output;
  const ProcessResult measured = run_program({.arguments = {"evaluate", params}});
  EXPECT_TRUE(contains(measured.output, "checkpoint: " + tuned)) << measured.output;
  const ProcessResult asked = export_to(exported, {params, "--init.weights=" + base});
  EXPECT_EQ(asked.status, 0) << asked.output;
  EXPECT_TRUE(contains(asked.output, "is used, not the checkpoints in run.directory = ")) << asked.output;
  EXPECT_TRUE(contains(asked.output, base + ": ")) << asked.output;
  std::filesystem::remove_all(run_directory("tuned") + "/checkpoints");
  const ProcessResult untrained = export_to(exported, {params});
  EXPECT_TRUE(contains(untrained.output, base + ": ")) << untrained.output;
  EXPECT_TRUE(contains(untrained.output, "log.jsonl records a checkpoint of step 1, but ")) << untrained.output;
}

TEST_F(Weights, ABranchIsMeasuredByItsOwnCheckpoints) {
  ASSERT_EQ(train({.name = "run", .steps = 1}).status, 0);
  const std::string base = checkpoint_path("run", 1);
  ASSERT_EQ(train({.name = "branch", .more = {"--checkpoint.resume=" + base}, .steps = 2}).status, 0);
  const std::string exported = directory_ / "exported.safetensors", params = run_directory("branch") + "/params.cfg";
  const ProcessResult own = export_to(exported, {params});
  // No step of the run is better than its first weights, whose file is elsewhere.
  EXPECT_TRUE(contains(own.output, checkpoint_path("branch", 2) + ": ")) << own.output;
  const ProcessResult asked = export_to(exported, {params, "--checkpoint.resume=" + base});
  EXPECT_TRUE(contains(asked.output, base + ": ")) << asked.output;
}

TEST_F(Weights, ARunOnSeveralStagesIsMeasuredOnAnyRanks) {
  const std::vector<std::string> stages = {"--grid.stages=2", "--grid.cuts=4", "--schedule.kind=zero_bubble"};
  ASSERT_EQ(train({.name = "run", .more = stages, .ranks = 2, .steps = 2}).status, 0);
  const std::string params = run_directory("run") + "/params.cfg";
  for (const std::string command : {"evaluate", "predict"}) {
    const ProcessResult alone = run_program({.arguments = {command, params}});
    EXPECT_EQ(alone.status, 0) << alone.output;
    EXPECT_TRUE(
        contains(alone.output, "grid: 1 stage, because grid.stages = 2 of the parameter file does not divide 1 rank"))
        << alone.output;
    const ProcessResult odd = run_program({.arguments = {command, params}, .ranks = 3});
    EXPECT_EQ(odd.status, 0) << odd.output;
    EXPECT_TRUE(contains(odd.output, "grid: 1 stage, ")) << odd.output;
    const ProcessResult as_trained = run_program({.arguments = {command, params}, .ranks = 2});
    EXPECT_EQ(as_trained.status, 0) << as_trained.output;
    EXPECT_FALSE(contains(as_trained.output, "grid: ")) << as_trained.output;
    const ProcessResult asked = run_program({.arguments = {command, params, "--grid.stages=2"}});
    EXPECT_EQ(asked.status, 2) << asked.output;
  }
}

TEST_F(Weights, AnExportsClassesAreThoseOfDataTrain) {
  ASSERT_EQ(train({.name = "run", .steps = 1}).status, 0);
  const std::string exported = directory_ / "exported.safetensors";
  ASSERT_EQ(export_to(exported, {"--run.directory=" + run_directory("run")}).status, 0);
  const ProcessResult result =
      run_program({.arguments = {"evaluate", "--init.weights=" + exported,
                                 "--data.test=" + (directory_ / "small/data/test"), "--run.device=cpu"},
                   .ranks = 2});
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_TRUE(
      contains(result.output, "holds only weights, neither classes nor mean and standard deviation: give data.train"))
      << result.output;
}

TEST_F(Weights, WhatCannotBeExportedIsRefused) {
  const ProcessResult nothing = export_to(directory_ / "x.safetensors", {"--run.directory=" + (directory_ / "absent")});
  EXPECT_EQ(nothing.status, 2) << nothing.output;
  EXPECT_TRUE(contains(nothing.output, "holds no checkpoint")) << nothing.output;
  const ProcessResult format = export_to(directory_ / "x.pth", {});
  EXPECT_EQ(format.status, 2) << format.output;
  EXPECT_TRUE(contains(format.output,
                       "must end in .safetensors, the format that is written. tools/torch_weights makes a .pth of it"))
      << format.output;
}

TEST_F(Weights, ADamagedSafetensorsFileIsRefusedByName) {
  ASSERT_EQ(train({.name = "run", .steps = 1}).status, 0);
  const std::string exported = directory_ / "exported.safetensors";
  ASSERT_EQ(export_to(exported, {"--init.weights=" + checkpoint_path("run", 1)}).status, 0);
  const std::string whole = read_text(exported);
  write_text(exported, whole.substr(0, whole.size() - 1));
  const ProcessResult result = train({.name = "new", .more = {"--init.weights=" + exported}, .ranks = 2});
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_TRUE(contains(result.output, "the file is truncated or damaged")) << result.output;
  EXPECT_FALSE(std::filesystem::exists(run_directory("new")));
  write_text(exported, whole);
  const ProcessResult resumed = train({.name = "new", .more = {"--checkpoint.resume=" + exported}});
  EXPECT_EQ(resumed.status, 2) << "it holds only weights, " << resumed.output;
}

TEST_F(WeightsInDepth, ValuesThatCannotBeTrainedOnAreRefusedByFileAndTensor) {
  ASSERT_EQ(train({.name = "run", .steps = 1}).status, 0);
  const io::Checkpoint whole = read_checkpoint(checkpoint_path("run", 1));
  struct Case {
    std::string tensor;
    float value;
    std::string what;
  };
  for (const Case& c : {Case{"fc.bias", std::nanf(""), "is nan, which is not a finite number"},
                        Case{"layer1.0.bn1.weight", -INFINITY, "is -inf, which is not a finite number"},
                        Case{"bn1.running_var", -0.5f, "is -0.5, which is not a variance"}}) {
    io::Checkpoint bad = whole;
    for (io::NamedTensor& tensor : bad.model)
      if (tensor.name == c.tensor) tensor.values[2] = c.value;
    const std::string h5 = directory_ / "bad.h5", safetensors = directory_ / "bad.safetensors";
    io::write_file_atomically(h5, io::encode_checkpoint(bad));
    io::write_file_atomically(safetensors, io::encode_safetensors({.tensors = bad.model, .counters = {}}));
    const auto expect_refusal = [&](const ProcessResult& result, const std::string& path) {
      EXPECT_EQ(result.status, 2) << result.output;
      EXPECT_TRUE(contains(result.output, "'" + path + "': value 3 of ")) << result.output;
      EXPECT_TRUE(contains(result.output, "of tensor '" + c.tensor + "' " + c.what)) << result.output;
    };
    for (const std::string& path : {h5, safetensors}) {
      expect_refusal(train({.name = "new", .more = {"--init.weights=" + path}, .ranks = 2}), path);
      expect_refusal(export_to(directory_ / "out.safetensors", {"--init.weights=" + path}), path);
      for (const std::string command : {"evaluate", "predict"}) {
        std::vector<std::string> arguments =
            arguments_ + std::vector<std::string>{"--init.weights=" + path, "--run.directory=" + run_directory("new")};
        arguments[0] = command;
        expect_refusal(run_program({.arguments = arguments}), path);
      }
    }
    expect_refusal(train({.name = "new", .more = {"--checkpoint.resume=" + h5}}), h5);
    EXPECT_FALSE(std::filesystem::exists(run_directory("new")));
  }
}

TEST_F(Weights, AnotherClassCountIsRefusedUnlessInitStrictIsFalse) {
  // Nine classes, then ten.
  const auto ten = import_small_data(directory_ / "ten", {.num_classes = 10});
  arguments_ = import_small_data(directory_ / "nine", {.num_classes = 9});
  ASSERT_EQ(train({.name = "nine-run"}).status, 0);
  const Tensors nine = model("nine-run");
  arguments_ = ten;
  const std::string weights = "--init.weights=" + checkpoint_path("nine-run");

  const ProcessResult strict = train({.name = "strict", .more = {weights}, .ranks = 2});
  EXPECT_EQ(strict.status, 2) << strict.output;
  EXPECT_TRUE(contains(strict.output, "2 of another shape (fc.weight: 9x64, not 10x64, fc.bias: 9, not 10)"))
      << strict.output;

  // Nothing is learnt at a rate of 0: training ends with the weights that it began with, except for running statistics.
  const std::vector<std::string> still = {weights, "--init.strict=false", "--optimizer.lr=0"};
  const ProcessResult tuned = train({.name = "tuned", .more = still});
  ASSERT_EQ(tuned.status, 0) << tuned.output;
  const std::string warning = "2 of another shape (fc.weight: 9x64, not 10x64, fc.bias: 9, not 10)";
  const std::size_t first = tuned.output.find(warning);
  ASSERT_NE(first, std::string::npos) << tuned.output;
  EXPECT_EQ(tuned.output.find(warning, first + 1), std::string::npos) << tuned.output;
  ASSERT_EQ(
      train({.name = "tuned-2x2", .more = still + std::vector<std::string>{"--grid.stages=2"}, .ranks = 4}).status, 0);
  ASSERT_EQ(train({.name = "random", .more = {"--optimizer.lr=0"}}).status, 0);
  const Tensors tuned_model = model("tuned"), on_grid = model("tuned-2x2"), random = model("random");
  for (const io::NamedTensor& tensor : tuned_model) {
    EXPECT_TRUE(same_bits(tensor, find(on_grid, tensor.name))) << tensor.name;
    if (contains(tensor.name, ".running_")) continue;
    const bool is_new = tensor.name.starts_with("fc.");
    EXPECT_TRUE(same_bits(tensor, find(is_new ? random : nine, tensor.name))) << tensor.name;
  }
}

TEST_F(Weights, FrozenParametersKeepTheirBitsOnEveryGrid) {
  ASSERT_EQ(train({.name = "start"}).status, 0);
  const std::vector<std::string> frozen = {"--init.weights=" + checkpoint_path("start"),
                                           "--train.freeze=layer1.*, layer2.1.conv2.weight, fc.bias",
                                           "--run.bucket_mib=0.05"};
  const auto on_stages = [&](int stages) {
    return frozen + std::vector<std::string>{"--grid.stages=" + std::to_string(stages)};
  };
  const ProcessResult first = train({.name = "1x1", .more = frozen});
  ASSERT_EQ(first.status, 0) << first.output;
  EXPECT_TRUE(contains(first.output, "of them frozen")) << first.output;
  ASSERT_EQ(train({.name = "2x1", .more = on_stages(2), .ranks = 2}).status, 0);
  ASSERT_EQ(train({.name = "1x2", .more = frozen, .ranks = 2}).status, 0);
  ASSERT_EQ(train({.name = "4x2", .more = on_stages(4), .ranks = 8}).status, 0);
  const Tensors start = model("start"), one = model("1x1");
  for (const std::string grid : {"2x1", "1x2", "4x2"}) {
    SCOPED_TRACE(grid);
    expect_same_bits(model(grid), one);
  }
  for (std::size_t i = 0; i < one.size(); ++i) {
    const std::string& name = one[i].name;
    const bool kept = name.starts_with("layer1.") || name == "layer2.1.conv2.weight" || name == "fc.bias";
    EXPECT_EQ(same_bits(one[i], start[i]), kept) << name;
  }
}

TEST_F(Weights, AFrozenBeginningIsSkippedAndKeepsItsBits) {
  ASSERT_EQ(train({.name = "start"}).status, 0);
  const std::vector<std::string> frozen = {"--init.weights=" + checkpoint_path("start"),
                                           "--train.freeze=conv1.*,bn1.*,layer1.*,layer2.*", "--run.bucket_mib=0.05"};
  ASSERT_EQ(train({.name = "1x1", .more = frozen}).status, 0);
  // The first of two stages has little left to do, the first of three nothing.
  ASSERT_EQ(train({.name = "3x2", .more = frozen + std::vector<std::string>{"--grid.stages=3"}, .ranks = 6}).status, 0);
  const Tensors start = model("start"), one = model("1x1");
  expect_same_bits(model("3x2"), one);
  for (std::size_t i = 0; i < one.size(); ++i) {
    const std::string& name = one[i].name;
    EXPECT_EQ(same_bits(one[i], start[i]), !name.starts_with("layer3.") && !name.starts_with("fc.")) << name;
  }
}

// As in PyTorch, a batch norm that uses its running statistics counts no batches.
TEST_F(Weights, AnExportCountsTheStepsThatABatchNormHasFollowed) {
  const auto counters = [&](const std::string& run, int step) {
    const std::string exported = directory_ / "exported.safetensors";
    EXPECT_EQ(export_to(exported, {"--checkpoint.resume=" + checkpoint_path(run, step)}).status, 0);
    return io::decode_safetensors(io::read_file(exported), exported).counters;
  };
  ASSERT_EQ(train({.name = "start"}).status, 0);
  const std::vector<std::string> frozen = {"--init.weights=" + checkpoint_path("start"), "--train.freeze=layer1.*"};
  ASSERT_EQ(train({.name = "tuned", .more = frozen, .steps = 2}).status, 0);
  ASSERT_EQ(
      train({.name = "tuned", .more = frozen + std::vector<std::string>{"--grid.stages=2"}, .ranks = 2, .steps = 4})
          .status,
      0);
  for (const auto& [name, count] : counters("tuned", 4)) EXPECT_EQ(count, name.starts_with("layer1.") ? 3 : 7) << name;
  // Thawed, it counts again; a training that begins from an export continues the count.
  ASSERT_EQ(train({.name = "tuned", .more = {frozen.front()}, .steps = 6}).status, 0);
  for (const auto& [name, count] : counters("tuned", 6)) EXPECT_EQ(count, name.starts_with("layer1.") ? 5 : 9) << name;
  const std::string exported = directory_ / "exported.safetensors";
  ASSERT_EQ(train({.name = "next", .more = {"--init.weights=" + exported}, .steps = 1}).status, 0);
  const auto next = counters("next", 1);
  EXPECT_EQ(next.size(), 19u) << "one a batch norm";
  for (const auto& [name, count] : next) EXPECT_EQ(count, name.starts_with("layer1.") ? 6 : 10) << name;
}

TEST_F(Weights, FrozenRunsGoOnAlikeAfterARestart) {
  const std::vector<std::string> frozen = {"--train.freeze=layer1.*,conv1.*"};
  ASSERT_EQ(train({.name = "whole", .more = frozen, .steps = 6}).status, 0);
  ASSERT_EQ(train({.name = "parts", .more = frozen, .steps = 3}).status, 0);
  ASSERT_EQ(train({.name = "parts", .more = frozen, .ranks = 2, .steps = 6}).status, 0);
  expect_same_bits(model("parts", 6), model("whole", 6));
}

TEST_F(Weights, APatternThatMatchesNothingIsRefused) {
  const ProcessResult result = train({.name = "run", .more = {"--train.freeze=layer9.*"}, .ranks = 2});
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_TRUE(contains(result.output, "train.freeze: 'layer9.*' matches no parameter. Nearest: layer1.*."))
      << result.output;
}

}  // namespace convoy::test
