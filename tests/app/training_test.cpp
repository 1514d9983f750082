/// What a run measures while it trains, what it keeps of that, and when it ends.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/io/checkpoint.h"

#include "app/runs.h"
#include "app/small_data.h"
#include "unit/data/image_files.h"
#include "unit/io/same_bits.h"

namespace convoy::test {

namespace {

class Training : public testing::Test {
 protected:
  Training() : arguments_(import_small_data(directory_ / "small")), run_(directory_ / "run") {}

  ProcessResult train(const std::vector<std::string>& more, int ranks = 0) const {
    return run_program(
        {.arguments = arguments_ + std::vector<std::string>{"--run.directory=" + run_} + more, .ranks = ranks});
  }
  ProcessResult evaluate(const std::vector<std::string>& more, int ranks = 0) const {
    return run_program(
        {.arguments = std::vector<std::string>{"evaluate", run_ + "/params.cfg"} + more, .ranks = ranks});
  }
  io::Checkpoint read(const std::string& name) const { return read_checkpoint(run_ + "/checkpoints/" + name); }
  // Returns the fields of log.csv's row of that epoch.
  std::vector<std::string> row(int epoch) const {
    const std::string text = read_text(run_ + "/log.csv");
    const std::size_t at = text.find("\n" + std::to_string(epoch) + ",");
    if (at == std::string::npos) return {};
    return fields_of(text.substr(at + 1, text.find('\n', at + 1) - at - 1));
  }
  static std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields(1);
    for (const char c : line) {
      if (c == ',') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    return fields;
  }

  WorkingDirectory directory_;
  std::vector<std::string> arguments_;
  std::string run_;
};

constexpr std::size_t kTestLoss = 5, kTestTop1 = 6, kValLoss = 11, kValTop1 = 12, kTestBalanced = 16,
                      kTestF1 = 17;  // columns of log.csv

// The same small data with a quarter of the training set as a split of its own; 480 samples remain: 7 steps per epoch.
class Validation : public Training {
 protected:
  Validation() {
    const ProcessResult import = run_program({.arguments = {"import", "--import.source=" + (directory_ / "small/idx"),
                                                            "--import.output=" + data_, "--import.val_fraction=0.25"}});
    EXPECT_EQ(import.status, 0) << import.output;
    arguments_ = arguments_ + std::vector<std::string>{"--data.train=" + data_, "--data.test=" + data_};
  }
  const std::string data_ = directory_ / "with-val";
  const std::string val_ = "--data.val=" + data_;
};

std::string percent(double top1) {
  char text[32];
  std::snprintf(text, sizeof text, "top-1 %.2f %%", 100 * top1);
  return text;
}

}  // namespace

TEST_F(Training, TheBestCheckpointIsKeptBesideTheNewest) {
  // 5 epochs at a learning rate that falls to nothing: the accuracy rises, then stays.
  ASSERT_EQ(train({"--train.epochs=5", "--checkpoint.keep=1"}, 2).status, 0);
  double best = -1, best_loss = 0;
  int best_epoch = 0;
  for (int epoch = 1; epoch <= 5; ++epoch) {
    const double top1 = std::stod(row(epoch).at(kTestTop1)), loss = std::stod(row(epoch).at(kTestLoss));
    if (top1 > best || (top1 == best && loss < best_loss)) best = top1, best_loss = loss, best_epoch = epoch;
  }
  const io::Checkpoint kept = read("best.h5");
  EXPECT_EQ(kept.state.step, 10 * best_epoch);
  EXPECT_EQ(kept.state.best_step, kept.state.step);
  EXPECT_NEAR(kept.state.best_value, best, 1e-8);  // log.csv has 9 digits
  EXPECT_EQ(read("step-00000050.h5").state.best_step, kept.state.step) << "a restart knows it";
  const ProcessResult evaluation = evaluate({"--checkpoint.resume=best"});
  EXPECT_EQ(evaluation.status, 0) << evaluation.output;
  EXPECT_TRUE(contains(evaluation.output, "checkpoints/best.h5")) << evaluation.output;
  EXPECT_TRUE(contains(evaluation.output, percent(kept.state.best_value))) << evaluation.output;
  const ProcessResult refused = train({"--train.epochs=6", "--checkpoint.resume=best"});
  EXPECT_EQ(refused.status, 2) << refused.output;
}

TEST_F(Training, TheBestCheckpointSurvivesARestartThatIsNoBetter) {
  ASSERT_EQ(train({"--train.max_steps=10"}).status, 0);
  const std::string before = read_text(run_ + "/checkpoints/best.h5");
  // Weights at a learning rate near 0 do not change except for running statistics; a metric that only ties is not
  // better.
  const ProcessResult more = train({"--train.max_steps=12", "--optimizer.lr=1e-30", "--checkpoint.keep=1"});
  ASSERT_EQ(more.status, 0) << more.output;
  const io::Checkpoint newest = read("step-00000012.h5");
  if (newest.state.best_step == 10) {
    EXPECT_TRUE(read_text(run_ + "/checkpoints/best.h5") == before);
  } else {
    EXPECT_EQ(read("best.h5").state.step, 12);
  }
}

TEST_F(Training, NoBestCheckpointWhereNoneIsWanted) {
  ASSERT_EQ(train({"--train.max_steps=2", "--checkpoint.best=false"}).status, 0);
  EXPECT_FALSE(std::filesystem::exists(run_ + "/checkpoints/best.h5"));
}

TEST_F(Training, TheTestSetIsMeasuredEveryNEpochsAndAtTheEnd) {
  const ProcessResult result = train({"--train.epochs=5", "--train.evaluate_every_epochs=2"});
  ASSERT_EQ(result.status, 0) << result.output;
  for (int epoch = 1; epoch <= 5; ++epoch) {
    EXPECT_EQ(row(epoch).at(kTestLoss).empty(), epoch % 2 == 1 && epoch < 5) << epoch;
    EXPECT_EQ(row(epoch).at(kTestTop1).empty(), epoch % 2 == 1 && epoch < 5) << epoch;
    EXPECT_FALSE(row(epoch).at(3).empty()) << "the training loss of every epoch";
  }
}

TEST_F(Training, TheTestSetIsMeasuredOnlyAtTheEndWhereNoEpochsAreNamed) {
  ASSERT_EQ(train({"--train.max_steps=25", "--train.evaluate_every_epochs=0"}, 2).status, 0);
  EXPECT_TRUE(row(1).at(kTestLoss).empty());
  EXPECT_TRUE(row(2).at(kTestLoss).empty());
  EXPECT_FALSE(row(3).at(kTestLoss).empty());
}

TEST_F(Training, EndsWith0WhenTheTestMetricHasNotImprovedForTooLong) {
  // A network that hardly learns: at a learning rate of 1e-12 only statistics move.
  const std::vector<std::string> patience = {"--optimizer.lr=1e-12", "--lr.schedule=constant", "--train.epochs=40",
                                             "--train.patience_epochs=2"};
  const ProcessResult result = train(patience, 2);
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "ended early: step ")) << result.output;
  EXPECT_TRUE(contains(result.output, "train.patience_epochs: test top-1 has not improved for 2 epochs"))
      << result.output;
  const auto found = io::find_newest_checkpoint(run_ + "/checkpoints", [](const auto&, const auto&) {});
  ASSERT_TRUE(found.has_value());
  const io::TrainingState state = io::decode_checkpoint(found->bytes, found->path).state;
  EXPECT_EQ(state.step, state.best_step + 20);
  EXPECT_LT(state.step, 400);
  const ProcessResult again = train(patience);
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_TRUE(contains(again.output, "nothing to do")) << again.output;
  EXPECT_FALSE(std::filesystem::exists(io::checkpoint_path(run_ + "/checkpoints", state.step + 1)));
  // With more patience training continues.
  const ProcessResult more =
      train({"--optimizer.lr=1e-12", "--lr.schedule=constant", "--train.epochs=40", "--train.patience_epochs=9",
             "--train.max_steps=" + std::to_string(state.step + 1)});
  EXPECT_EQ(more.status, 0) << more.output;
  EXPECT_TRUE(std::filesystem::exists(io::checkpoint_path(run_ + "/checkpoints", state.step + 1))) << more.output;
}

TEST_F(Training, TheMovingAverageIsWhatIsMeasuredInTrainingAndByEvaluate) {
  ASSERT_EQ(train({"--train.max_steps=20", "--train.ema_decay=0.8", "--grid.stages=2"}, 4).status, 0);
  // Both take the best checkpoint, which is that of the first epoch with the higher of these.
  const std::string top1 = percent(std::max(std::stod(row(1).at(kTestTop1)), std::stod(row(2).at(kTestTop1))));
  const ProcessResult average = evaluate({"--grid.stages=1"}, 2),
                      trained = evaluate({"--evaluate.weights=trained", "--grid.stages=1"});
  ASSERT_EQ(average.status, 0) << average.output;
  ASSERT_EQ(trained.status, 0) << trained.output;
  EXPECT_TRUE(contains(average.output, "(moving average)")) << average.output;
  EXPECT_FALSE(contains(trained.output, "(moving average)")) << trained.output;
  EXPECT_TRUE(contains(average.output, top1)) << average.output << "\ntraining: " << top1;
  // The loss distinguishes the two to its last digit.
  const auto loss = [](const ProcessResult& result) { return result.output.substr(result.output.find("loss "), 11); };
  EXPECT_NE(loss(average), loss(trained));
}

TEST_F(Training, MeasuringTheAverageLeavesTheTrainingAlone) {
  // Epoch 1 ends at step 10; both runs continue to step 15.
  ASSERT_EQ(train({"--train.max_steps=15", "--train.ema_decay=0.8"}, 2).status, 0);
  const io::Checkpoint measured = read("step-00000015.h5");
  ASSERT_EQ(train({"--train.max_steps=15", "--run.directory=" + (directory_ / "plain")}, 2).status, 0);
  const io::Checkpoint plain = read_checkpoint(directory_ / "plain/checkpoints/step-00000015.h5");
  expect_same_bits(measured.model, plain.model);
  EXPECT_TRUE(plain.ema.empty());
}

TEST_F(Training, SaysWhatMemoryItWasPredictedToTakeAndTook) {
  const ProcessResult result = train({"--train.max_steps=2", "--memory.recompute=cell"}, 2);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_NE(result.output.find("memory: at most "), std::string::npos) << result.output;
  double took = 0, predicted = 0;
  std::istringstream line(result.output.substr(result.output.find("memory: at most ") + 16));
  std::string unit, word, number;
  line >> took >> unit >> word >> word >> number >> word >> predicted;  // "61.3 MiB on rank 0, predicted 60.1 MiB"
  ASSERT_EQ(unit, "MiB") << result.output;
  EXPECT_NEAR(took / predicted, 1, 0.25) << result.output;  // such a small run is mostly the program and its libraries
  const std::regex sum(R"(, predicted \S+ MiB \(plan \S+ .iB, outside the plan \S+ .iB, program \S+ .iB\))");
  EXPECT_TRUE(std::regex_search(result.output, sum)) << result.output;
  const ProcessResult plan = run_program({.arguments = std::vector<std::string>{"plan", run_ + "/params.cfg"}});
  EXPECT_NE(plan.output.find("10 of 11\n"), std::string::npos) << "recomputed: all but the head, which saves nothing\n"
                                                               << plan.output;
}

// Photographs of three kinds as JPEG and PNG files of many sizes, kept unchanged.
TEST_F(Training, LearnsFromEncodedImages) {
  write_image_folder(directory_ / "images");
  const ProcessResult import =
      run_program({.arguments = {"import", "--import.source=" + (directory_ / "images"),
                                 "--import.output=" + (directory_ / "files"), "--import.storage=encoded"}});
  ASSERT_EQ(import.status, 0) << import.output;
  arguments_ = {"train",
                "--model.name=resnet20",
                "--data.train=" + (directory_ / "files/train"),
                "--data.test=" + (directory_ / "files/test"),
                "--batch.global=8",
                "--batch.micro=4",
                "--optimizer.lr=0.05",
                "--lr.schedule=onecycle",
                "--train.epochs=15",
                "--run.device=cpu",
                "--run.threads=1"};
  const ProcessResult refused = train({});
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(contains(refused.output, "augment.size = 0 keeps the stored size of images")) << refused.output;
  const ProcessResult trained = train({"--augment.size=16", "--augment.crop=random_resized", "--augment.scale=0.5",
                                       "--augment.flip=on", "--augment.brightness=0.1"},
                                      2);
  ASSERT_EQ(trained.status, 0) << trained.output;
  EXPECT_LT(std::stod(row(15).at(kTestLoss)), std::stod(row(1).at(kTestLoss))) << trained.output;
  // Four of six or more by chance: 10 %; but the seed is fixed, and an untrained network finds 2 of 6.
  EXPECT_GE(std::stod(row(15).at(kTestTop1)), 4.0 / 6 - 1e-6) << trained.output;
  const ProcessResult measured = evaluate({});
  EXPECT_EQ(measured.status, 0) << measured.output;
  EXPECT_TRUE(contains(measured.output, percent(std::stod(row(15).at(kTestTop1))))) << measured.output;
}

// An evaluation of the last checkpoint finds what the run logs: on another grid, with test-time augmentation.
TEST_F(Training, TestsWithMirrorImagesAsAnEvaluationDoes) {
  const ProcessResult trained = train({"--train.epochs=1", "--evaluate.mirror=true", "--grid.stages=2"}, 2);
  ASSERT_EQ(trained.status, 0) << trained.output;
  const std::vector<std::string> fields = row(1);
  ASSERT_GT(fields.size(), kTestTop1);
  const ProcessResult both = evaluate({"--grid.stages=1"}),
                      plain = evaluate({"--grid.stages=1", "--evaluate.mirror=false"});
  const std::string loss =
      fmt::format("loss {:.4f}  {}", std::stod(fields[kTestLoss]), percent(std::stod(fields[kTestTop1])));
  EXPECT_TRUE(contains(both.output, loss)) << loss << "\n" << both.output;
  EXPECT_FALSE(contains(plain.output, loss)) << "mirrored or not is the same here: nothing was tested";
}

TEST_F(Validation, ChoosesTheBestWeightsAndTheTestSetIsMeasuredWithThemOnce) {
  const ProcessResult trained = train({val_, "--train.epochs=5", "--train.ema_decay=0.8"}, 2);
  ASSERT_EQ(trained.status, 0) << trained.output;
  double best = -1, best_loss = 0;
  int best_epoch = 0;
  for (int epoch = 1; epoch <= 5; ++epoch) {
    EXPECT_TRUE(row(epoch).at(kTestLoss).empty() && row(epoch).at(kTestTop1).empty()) << epoch;
    EXPECT_FALSE(row(epoch).at(kValLoss).empty()) << epoch;
    const double top1 = std::stod(row(epoch).at(kValTop1)), loss = std::stod(row(epoch).at(kValLoss));
    if (top1 > best || (top1 == best && loss < best_loss)) best = top1, best_loss = loss, best_epoch = epoch;
  }
  const io::Checkpoint kept = read("best.h5");
  EXPECT_EQ(kept.state.step, 7 * best_epoch);
  EXPECT_NEAR(kept.state.best_value, best, 1e-8);  // log.csv has 9 digits
  EXPECT_TRUE(contains(trained.output, "; best val " + percent(best) + " in epoch ")) << trained.output;

  // An evaluation of best.h5 finds what the run reports of the test set.
  const std::string test_csv = read_text(run_ + "/test.csv");
  ASSERT_EQ(test_csv.find(fmt::format("step,samples,loss,top1,balanced_accuracy,macro_f1\n{},96,", kept.state.step)),
            0u)
      << test_csv;
  const double top1 = std::stod(fields_of(test_csv.substr(test_csv.find('\n') + 1)).at(3));
  EXPECT_TRUE(contains(trained.output,
                       fmt::format("{}  with {}/checkpoints/best.h5 (epoch {})", percent(top1), run_, best_epoch)))
      << trained.output;
  const auto loss = [](const std::string& text) { return text.substr(text.find("96 samples  loss "), 23); };
  const ProcessResult evaluation = evaluate({"--checkpoint.resume=best"});
  EXPECT_EQ(loss(trained.output), loss(evaluation.output));
  EXPECT_TRUE(contains(evaluation.output, percent(top1))) << evaluation.output;

  // Started again, or on another grid, it gives the same result.
  std::filesystem::remove(run_ + "/test.csv");
  const ProcessResult again = train({val_, "--train.epochs=5", "--train.ema_decay=0.8", "--grid.stages=2"}, 2);
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_EQ(read_text(run_ + "/test.csv"), test_csv);
}

TEST_F(Validation, TakesThePlaceOfATestSet) {
  const ProcessResult trained = train({val_, "--data.test=", "--train.epochs=1"});
  ASSERT_EQ(trained.status, 0) << trained.output;
  EXPECT_FALSE(std::filesystem::exists(run_ + "/test.csv"));
  const ProcessResult evaluation = evaluate({});
  EXPECT_EQ(evaluation.status, 0) << evaluation.output;
  EXPECT_TRUE(contains(evaluation.output, percent(std::stod(row(1).at(kValTop1))))) << evaluation.output;
  EXPECT_TRUE(contains(evaluation.output, "160 samples")) << evaluation.output;
  const ProcessResult prediction = run_program({.arguments = {"predict", run_ + "/params.cfg"}});
  EXPECT_EQ(prediction.status, 0) << prediction.output;
  const std::string counted = "160 samples  top-1 ";
  const std::size_t at = prediction.output.find(counted);
  ASSERT_NE(at, std::string::npos) << prediction.output;
  EXPECT_NEAR(std::stod(prediction.output.substr(at + counted.size())), 100 * std::stod(row(1).at(kValTop1)), 0.0051);
}

TEST_F(Validation, LeavesTheTrainingAloneAndWithoutABestTheLastWeightsAreTested) {
  ASSERT_EQ(train({"--train.max_steps=10", "--checkpoint.best=false"}).status, 0);
  const io::Checkpoint plain = read("step-00000010.h5");
  const std::string test = fmt::format("{},{},{},{}", row(2).at(kTestLoss), row(2).at(kTestTop1),
                                       row(2).at(kTestBalanced), row(2).at(kTestF1));
  run_ = directory_ / "validated";
  ASSERT_EQ(train({val_, "--train.max_steps=10", "--checkpoint.best=false"}).status, 0);
  expect_same_bits(read("step-00000010.h5").model, plain.model);
  EXPECT_EQ(read_text(run_ + "/test.csv"), "step,samples,loss,top1,balanced_accuracy,macro_f1\n10,96," + test + "\n");
}

TEST_F(Validation, PatienceFollowsIt) {
  const ProcessResult result =
      train({val_, "--optimizer.lr=1e-12", "--lr.schedule=constant", "--train.epochs=40", "--train.patience_epochs=1"});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "train.patience_epochs: val top-1 has not improved for 1 epoch\n"))
      << result.output;
  EXPECT_TRUE(std::filesystem::exists(run_ + "/test.csv")) << "a run that ends early has ended";
}

TEST_F(Validation, WhereItIsNewTheBestStartsAnew) {
  ASSERT_EQ(train({"--train.max_steps=7", "--optimizer.lr=1e-12"}).status, 0);
  // At the last step that is asked for nothing is measured any more, so patience has nothing to judge by.
  const ProcessResult same =
      train({val_, "--train.max_steps=7", "--optimizer.lr=1e-12", "--train.patience_epochs=1"}, 2);
  ASSERT_EQ(same.status, 0) << same.output;
  const std::string over = "was measured on: the best checkpoint and train.patience_epochs start again with";
  EXPECT_TRUE(contains(same.output, "data.val = " + data_ + " holds other images or labels than the best top-1 "))
      << same.output;
  EXPECT_TRUE(contains(same.output, over)) << same.output;
  const ProcessResult renamed = train({"--data.val=" + data_ + "/test", "--train.max_steps=7", "--optimizer.lr=1e-12"});
  EXPECT_FALSE(contains(renamed.output, over)) << "the same images by another key: " << renamed.output;
  EXPECT_TRUE(contains(same.output, "with " + run_ + "/checkpoints/step-00000007.h5 (epoch 1)")) << same.output;
  const ProcessResult more = train({val_, "--train.max_steps=14", "--optimizer.lr=1e-12", "--train.patience_epochs=1"});
  ASSERT_EQ(more.status, 0) << more.output;
  EXPECT_EQ(read("best.h5").state.step, 14);
  EXPECT_EQ(read("step-00000014.h5").state.best_step, 14);
  const ProcessResult continued = train({val_, "--train.max_steps=15", "--optimizer.lr=1e-12"});
  EXPECT_FALSE(contains(continued.output, over)) << continued.output;
}

}  // namespace convoy::test
