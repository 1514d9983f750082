/// A fold of the training data that is left out and measured (data.fold): the same bits on every grid and after
/// restarts, seen by every command.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/base/random.h"

#include "app/runs.h"
#include "app/small_data.h"
#include "unit/messages.h"

namespace convoy::test {

namespace {

constexpr int kNumSamples = 400;

// A table of 50 patients with 8 samples each, which can be learnt, in 4 folds.
std::vector<std::string> import_table_with_folds(const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::string table = "a,b,c,patient,kind\n";
  for (int i = 0; i < kNumSamples; ++i) {
    const RandomKey key{.seed = 7, .item = static_cast<std::uint64_t>(i)};
    const double a = random_normal(key, 0), b = random_normal(key, 1), c = random_normal(key, 2);
    table += fmt::format("{:.4f},{:.4f},{:.4f},p{},{}\n", a, b, 100 + 30 * c, i / 8, a + c > b ? "ill" : "well");
  }
  write_text(folder + "/t.csv", table);
  const ProcessResult imported = run_program(
      {.arguments = {"import", "--import.source=" + folder + "/t.csv", "--import.output=" + folder + "/data",
                     "--import.target=kind", "--import.group=patient", "--import.folds=4", "--import.shards=3"}});
  EXPECT_EQ(imported.status, 0) << imported.output;
  EXPECT_CONTAINS(imported.output, "train: 4 folds of 96 to 104 samples (import.folds)");
  return {"train",
          "--model.name=mlp",
          "--model.set=layers=2,width=16",
          "--data.train=" + folder + "/data",
          "--batch.global=64",
          "--batch.micro=8",
          "--optimizer.lr=0.05",
          "--train.epochs=3",
          "--run.device=cpu",
          "--run.threads=1",
          "--run.fingerprint_every=3"};
}

class Folds : public Runs {
 protected:
  Folds() : Runs(import_table_with_folds) {}

  ProcessResult run(const std::string& command, const std::vector<std::string>& more) {
    return run_program({.arguments = std::vector<std::string>{command} +
                                     std::vector<std::string>(arguments_.begin() + 1, arguments_.end()) +
                                     std::vector<std::string>{"--run.directory=" + (directory_ / "other")} + more});
  }
};

}  // namespace

TEST_F(Folds, GiveTheSameBitsOnEveryGridAndResumed) {
  constexpr int kSteps = 6;  // 4 steps per epoch
  for (const std::string fold : {"1", "3"}) {
    features_ = {"--data.fold=" + fold};
    train(fold, {1, 1}, kSteps);
    EXPECT_CONTAINS(output_, "; data.fold = " + fold);
    EXPECT_CONTAINS(output_, "epoch: 4 steps");
    train(fold + " on 2x1", {2, 1}, kSteps);
    expect_same_run(fold, fold + " on 2x1", kSteps);
    train(fold + " in pieces", {1, 2}, 3);
    features_.emplace_back("--data.copy_to=memory");
    train(fold + " in pieces", {2, 2}, kSteps);
    EXPECT_CONTAINS(output_, "data.copy_to: 3 of 3 shards") << "the fold is read from the copies of the others";
    expect_same_run(fold, fold + " in pieces", kSteps);
  }
  EXPECT_NE(checkpoint("1", kSteps).model[0].values, checkpoint("3", kSteps).model[0].values);
  EXPECT_NE(checkpoint("1", kSteps).metadata.arrays()->inputs[0].mean,
            checkpoint("3", kSteps).metadata.arrays()->inputs[0].mean)
      << "each has the means of what it trains on";
}

TEST_F(Folds, AreMeasuredPredictedAndSummedUp) {
  std::set<std::string> predicted;
  for (const std::string fold : {"1", "2", "3", "4"}) {
    features_ = {"--data.fold=" + fold};
    train("fold-" + fold, {1, 1}, 12);
    const std::string run = directory_ / ("fold-" + fold), csv = directory_ / (fold + ".csv");
    const ProcessResult evaluated = run_program({.arguments = {"evaluate", run}});
    EXPECT_EQ(evaluated.status, 0) << evaluated.output;
    EXPECT_CONTAINS(evaluated.output, "/data (fold " + fold + "): ");
    const ProcessResult result = run_program({.arguments = {"predict", run, "--predict.output=" + csv}});
    EXPECT_EQ(result.status, 0) << result.output;
    const std::string text = read_text(csv);
    for (std::size_t line = text.find('\n') + 1; line < text.size(); line = text.find('\n', line) + 1)
      EXPECT_TRUE(predicted.insert(text.substr(line, text.find(',', line) - line)).second) << fold;
  }
  EXPECT_EQ(predicted.size(), static_cast<std::size_t>(kNumSamples)) << "each sample is predicted once";
  const ProcessResult table = run_program(
      {.arguments = {"compare", "--summary", directory_ / "fold-1", directory_ / "fold-2", directory_ / "fold-3"}});
  EXPECT_EQ(table.status, 0) << table.output;
  EXPECT_CONTAINS(table.output, "data.fold = 1; 2; 3\n");
  EXPECT_CONTAINS(table.output, "standard deviation");
  const ProcessResult other = run_program({.arguments = {"train", directory_ / "fold-1", "--data.fold=2"}});
  EXPECT_EQ(other.status, 2);
  EXPECT_CONTAINS(other.output, "data.fold = 2, but " + (directory_ / "fold-1"));
  EXPECT_CONTAINS(other.output, "was written with 1: other samples are left out of the training");
}

TEST_F(Folds, AreSeenByCheckPlanAndInfo) {
  const ProcessResult info = run_program({.arguments = {"info", directory_ / "small/data"}});
  EXPECT_CONTAINS(info.output, "folds         4, of ");
  for (const std::string command : {"check", "plan", "train"}) {
    const ProcessResult none = run(command, {"--data.fold=5"});
    EXPECT_EQ(none.status, 2) << none.output;
    EXPECT_CONTAINS(none.output, "data has 4 folds. Allowed: 1 to 4, or 0 for no fold.");
  }
  const ProcessResult checked = run("check", {"--data.fold=2"});
  EXPECT_EQ(checked.status, 0) << checked.output;
  EXPECT_CONTAINS(checked.output, "data fit");
  const ProcessResult planned = run("plan", {"--data.fold=2", "--data.limit=50 %"});
  EXPECT_EQ(planned.status, 0) << planned.output;
  EXPECT_CONTAINS(planned.output, "epoch: 2 steps") << "half of what is outside the fold";
}

TEST_F(Folds, OfADataSetWithoutThemAreRefused) {
  const std::string folder = directory_ / "images";
  arguments_ = import_small_data(folder);
  const ProcessResult none = run("train", {"--data.fold=1"});
  EXPECT_EQ(none.status, 2) << none.output;
  EXPECT_CONTAINS(none.output,
                  "data.fold = 1, but data.train = " + folder + "/data/train has no folds. Import it again");
}

}  // namespace convoy::test
