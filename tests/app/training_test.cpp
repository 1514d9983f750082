/// What a run measures on its way, what it keeps of that, and when it ends.
#include <filesystem>
#include <regex>
#include <sstream>

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

  Ending train(const std::vector<std::string>& more, int ranks = 0) const {
    return run_program(
        {.arguments = arguments_ + std::vector<std::string>{"--run.directory=" + run_} + more, .ranks = ranks});
  }
  Ending evaluate(const std::vector<std::string>& more, int ranks = 0) const {
    return run_program(
        {.arguments = std::vector<std::string>{"evaluate", run_ + "/params.cfg"} + more, .ranks = ranks});
  }
  io::Checkpoint read(const std::string& name) const { return read_checkpoint(run_ + "/checkpoints/" + name); }
  // The fields of log.csv's row of that epoch.
  std::vector<std::string> row(int epoch) const {
    const std::string text = read_text(run_ + "/log.csv");
    const std::size_t at = text.find("\n" + std::to_string(epoch) + ",");
    if (at == std::string::npos) return {};
    const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
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

constexpr std::size_t kTestLoss = 5, kTestTop1 = 6;  // columns of log.csv

std::string percent(double top1) {
  char text[32];
  std::snprintf(text, sizeof text, "top-1 %.2f %%", 100 * top1);
  return text;
}

}  // namespace

TEST_F(Training, TheBestCheckpointIsKeptBesideTheNewest) {
  // 5 epochs at a learning rate that falls to nothing: the accuracy rises, then stays.
  ASSERT_EQ(train({"--train.epochs=5", "--checkpoint.keep=1"}, 2).status, 0);
  double best = -1;
  int best_epoch = 0;
  for (int epoch = 1; epoch <= 5; ++epoch) {
    const double top1 = std::stod(row(epoch).at(kTestTop1));
    if (top1 > best + 1e-9) best = top1, best_epoch = epoch;
  }
  const io::Checkpoint kept = read("best.h5");
  EXPECT_EQ(kept.state.step, 10 * best_epoch);
  EXPECT_EQ(kept.state.best_step, kept.state.step);
  EXPECT_NEAR(kept.state.best_metric, best, 1e-8);  // log.csv has 9 digits
  EXPECT_EQ(read("step-00000050.h5").state.best_step, kept.state.step) << "a restart knows it";
  const Ending evaluation = evaluate({"--checkpoint.resume=best"});
  EXPECT_EQ(evaluation.status, 0) << evaluation.output;
  EXPECT_TRUE(contains(evaluation.output, "checkpoints/best.h5")) << evaluation.output;
  EXPECT_TRUE(contains(evaluation.output, percent(kept.state.best_metric))) << evaluation.output;
  const Ending refused = train({"--train.epochs=6", "--checkpoint.resume=best"});
  EXPECT_EQ(refused.status, 2) << refused.output;
}

TEST_F(Training, TheBestCheckpointSurvivesARestartThatIsNoBetter) {
  ASSERT_EQ(train({"--train.max_steps=10"}).status, 0);
  const std::string before = read_text(run_ + "/checkpoints/best.h5");
  // Weights at a learning rate of 0 stay as they are but for the statistics; a metric that only ties is no better.
  const Ending more = train({"--train.max_steps=12", "--optimizer.lr=1e-30", "--checkpoint.keep=1"});
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
  const Ending ending = train({"--train.epochs=5", "--train.evaluate_every_epochs=2"});
  ASSERT_EQ(ending.status, 0) << ending.output;
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
  const Ending ending = train(patience, 2);
  ASSERT_EQ(ending.status, 0) << ending.output;
  EXPECT_TRUE(contains(ending.output, "ended early: step ")) << ending.output;
  EXPECT_TRUE(contains(ending.output, "train.patience_epochs: no better test top-1 for 2 epochs")) << ending.output;
  const auto found = io::find_newest_checkpoint(run_ + "/checkpoints", [](const auto&, const auto&) {});
  ASSERT_TRUE(found.has_value());
  const io::TrainingState state = io::decode_checkpoint(found->bytes, found->path).state;
  EXPECT_EQ(state.step, state.best_step + 20);
  EXPECT_LT(state.step, 400);
  const Ending again = train(patience);
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_TRUE(contains(again.output, "nothing to do")) << again.output;
  EXPECT_FALSE(std::filesystem::exists(io::checkpoint_path(run_ + "/checkpoints", state.step + 1)));
  // With more patience it goes on.
  const Ending more = train({"--optimizer.lr=1e-12", "--lr.schedule=constant", "--train.epochs=40",
                             "--train.patience_epochs=9", "--train.max_steps=" + std::to_string(state.step + 1)});
  EXPECT_EQ(more.status, 0) << more.output;
  EXPECT_TRUE(std::filesystem::exists(io::checkpoint_path(run_ + "/checkpoints", state.step + 1))) << more.output;
}

TEST_F(Training, TheMovingAverageIsWhatIsMeasuredInTrainingAndByEvaluate) {
  ASSERT_EQ(train({"--train.max_steps=20", "--train.ema_decay=0.8", "--grid.stages=2"}, 4).status, 0);
  const std::string top1 = percent(std::stod(row(2).at(kTestTop1)));
  const Ending average = evaluate({"--grid.stages=1"}, 2),
               trained = evaluate({"--evaluate.weights=trained", "--grid.stages=1"});
  ASSERT_EQ(average.status, 0) << average.output;
  ASSERT_EQ(trained.status, 0) << trained.output;
  EXPECT_TRUE(contains(average.output, "(moving average)")) << average.output;
  EXPECT_FALSE(contains(trained.output, "(moving average)")) << trained.output;
  EXPECT_TRUE(contains(average.output, top1)) << average.output << "\ntraining: " << top1;
  // The loss tells the two apart to its last digit.
  const auto loss = [](const Ending& ending) { return ending.output.substr(ending.output.find("loss "), 11); };
  EXPECT_NE(loss(average), loss(trained));
}

TEST_F(Training, MeasuringTheAverageLeavesTheTrainingAlone) {
  // Epoch 1 ends at step 10; both go on to 15.
  ASSERT_EQ(train({"--train.max_steps=15", "--train.ema_decay=0.8"}, 2).status, 0);
  const io::Checkpoint measured = read("step-00000015.h5");
  ASSERT_EQ(train({"--train.max_steps=15", "--run.directory=" + (directory_ / "plain")}, 2).status, 0);
  const io::Checkpoint plain = read_checkpoint(directory_ / "plain/checkpoints/step-00000015.h5");
  expect_same_bits(measured.model, plain.model);
  EXPECT_TRUE(plain.ema.empty());
}

TEST_F(Training, SaysWhatMemoryItWasPredictedToTakeAndTook) {
  const Ending ending = train({"--train.max_steps=2", "--memory.recompute=cell"}, 2);
  EXPECT_EQ(ending.status, 0) << ending.output;
  EXPECT_NE(ending.output.find("memory: at most "), std::string::npos) << ending.output;
  double took = 0, predicted = 0;
  std::istringstream line(ending.output.substr(ending.output.find("memory: at most ") + 16));
  std::string unit, word, number;
  line >> took >> unit >> word >> word >> number >> word >> predicted;  // "61.3 MiB on rank 0, predicted 60.1 MiB"
  ASSERT_EQ(unit, "MiB") << ending.output;
  EXPECT_NEAR(took / predicted, 1, 0.25) << ending.output;  // so small a run is mostly the program and its libraries
  const std::regex sum(R"(, predicted \S+ MiB \(plan \S+ .iB, beside it \S+ .iB, program \S+ .iB\))");
  EXPECT_TRUE(std::regex_search(ending.output, sum)) << ending.output;
  const Ending plan = run_program({.arguments = std::vector<std::string>{"plan", run_ + "/params.cfg"}});
  EXPECT_NE(plan.output.find("10 of 11\n"), std::string::npos) << "recomputed: all but the head, which saves nothing\n"
                                                               << plan.output;
}

// Photographs of three kinds as JPEG and PNG files of many sizes, kept as they are.
TEST_F(Training, LearnsFromEncodedImages) {
  write_image_folder(directory_ / "images");
  const Ending import =
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
  const Ending refused = train({});
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(contains(refused.output, "augment.size = 0 takes images as they are stored")) << refused.output;
  const Ending trained = train({"--augment.size=16", "--augment.crop=random_resized", "--augment.scale=0.5",
                                "--augment.flip=on", "--augment.brightness=0.1"},
                               2);
  ASSERT_EQ(trained.status, 0) << trained.output;
  EXPECT_LT(std::stod(row(15).at(kTestLoss)), std::stod(row(1).at(kTestLoss))) << trained.output;
  // Four of six and more by chance: 10 %; but the seed is fixed, and nothing learnt is 2 of 6.
  EXPECT_GE(std::stod(row(15).at(kTestTop1)), 4.0 / 6 - 1e-6) << trained.output;
  const Ending measured = evaluate({});
  EXPECT_EQ(measured.status, 0) << measured.output;
  EXPECT_TRUE(contains(measured.output, percent(std::stod(row(15).at(kTestTop1))))) << measured.output;
}

// What a run logs, an evaluation of its last checkpoint finds: on another grid, with both views.
TEST_F(Training, TestsWithMirrorImagesAsAnEvaluationDoes) {
  const Ending trained = train({"--train.epochs=1", "--evaluate.mirror=true", "--grid.stages=2"}, 2);
  ASSERT_EQ(trained.status, 0) << trained.output;
  const std::vector<std::string> fields = row(1);
  ASSERT_GT(fields.size(), kTestTop1);
  const Ending both = evaluate({"--grid.stages=1"}), plain = evaluate({"--grid.stages=1", "--evaluate.mirror=false"});
  const std::string loss =
      fmt::format("loss {:.4f}  {}", std::stod(fields[kTestLoss]), percent(std::stod(fields[kTestTop1])));
  EXPECT_TRUE(contains(both.output, loss)) << loss << "\n" << both.output;
  EXPECT_FALSE(contains(plain.output, loss)) << "mirrored or not is the same here: nothing was tested";
}

}  // namespace convoy::test
