/// Files of a run's directory are lost, cut, or replaced by something else: the next start says so, and does not hang.
#include <csignal>
#include <filesystem>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "app/program.h"
#include "app/runs.h"
#include "app/small_data.h"

namespace convoy::test {

namespace {

class RunFiles : public testing::Test {
 protected:
  RunFiles() : arguments_(import_small_data(directory_ / "small")), run_(directory_ / "run") {}

  ProcessResult train(int steps, const std::vector<std::string>& more = {}, int ranks = 0) const {
    return run_program(
        {.arguments =
             arguments_ +
             std::vector<std::string>{"--train.max_steps=" + std::to_string(steps), "--run.directory=" + run_} + more,
         .ranks = ranks,
         .timeout_seconds = 60});
  }

  WorkingDirectory directory_;
  std::vector<std::string> arguments_;
  std::string run_;
};

}  // namespace

TEST_F(RunFiles, LostRowsAreNamedWhenARunIsResumed) {
  ASSERT_EQ(train(12).status, 0);  // 10 steps per epoch
  const std::string steps = read_text(run_ + "/steps.csv");
  write_text(run_ + "/steps.csv", steps.substr(0, steps.find("\n9,") + 1) + steps.substr(steps.find("\n11,") + 1));
  std::filesystem::remove(run_ + "/log.csv");
  const ProcessResult result = train(14);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(
      contains(result.output, "steps.csv has lost 2 of the 12 rows that this run wrote before: those of step 9 to 10."))
      << result.output;
  EXPECT_TRUE(contains(result.output, "log.csv has lost 1 of the 1 rows that this run wrote before: those of step 10."))
      << result.output;
  EXPECT_TRUE(contains(read_text(run_ + "/steps.csv"), "\n14,")) << "the run continues";
}

TEST_F(RunFiles, NothingIsSaidToBeLostOfARunThatIsWhole) {
  ASSERT_EQ(train(7).status, 0);
  for (const int steps : {7, 10, 20, 23}) {
    const ProcessResult result = train(steps);
    EXPECT_FALSE(contains(result.output, "has lost")) << result.output;
  }
  const std::string branch = directory_ / "branch";
  const std::vector<std::string> from = {"--checkpoint.resume=" + run_ + "/checkpoints/step-00000023.h5",
                                         "--run.directory=" + branch};
  for (const int steps : {25, 27}) {
    const ProcessResult result = train(steps, from);
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_FALSE(contains(result.output, "has lost")) << result.output;
  }
}

TEST_F(RunFiles, ThatAreNoFilesAreNamedAndNotWaitedFor) {
  ASSERT_EQ(train(2, {}, 2).status, 0);
  for (const std::string name : {"steps.csv", "log.csv", "params.cfg", "costs.txt"}) {
    const std::string path = run_ + "/" + name;
    std::filesystem::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    for (const char* kind : {"named pipe", "directory"}) {
      const ProcessResult result = train(4, {}, 2);
      EXPECT_FALSE(result.timed_out) << name;
      EXPECT_EQ(result.status, 1) << result.output;
      EXPECT_TRUE(contains(result.output, name + "' is not a file but a " + kind)) << result.output;
      std::filesystem::remove(path);
      std::filesystem::create_directory(path);
    }
    std::filesystem::remove(path);
  }
  ASSERT_EQ(mkfifo((run_ + "/params.cfg").c_str(), 0600), 0);
  const ProcessResult named = run_program({.arguments = {"train", run_ + "/params.cfg"}, .timeout_seconds = 60});
  EXPECT_FALSE(named.timed_out);
  EXPECT_EQ(named.status, 2) << named.output;
  EXPECT_TRUE(contains(named.output, "params.cfg: a named pipe, but a parameter file is expected")) << named.output;
}

TEST_F(RunFiles, CostsThatCannotBeAreSaidAndMeasuredAgain) {
  ASSERT_EQ(train(2, {}, 2).status, 0);
  const std::string path = run_ + "/costs.txt", costs = read_text(path);
  const std::size_t cells = costs.find("of weights\n") + 11, rates = costs.find("2: others do\n") + 13;
  const auto with = [&](std::size_t at, const std::string& number) {
    std::string text = costs;
    return text.replace(at, text.find(' ', at) - at, number);
  };
  int steps = 2;
  for (const std::string& text : {with(cells, "1e308"), with(cells, "-1"), with(cells, "nan"), with(rates, "1e308"),
                                  with(rates, "0"), costs.substr(0, cells + 30)}) {
    write_text(path, text);
    const ProcessResult result = train(++steps, {}, 2);
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_TRUE(contains(result.output, path + " cannot be used: ")) << text << result.output;
    EXPECT_NE(read_text(path), text) << "the new measurement is kept";
  }
}

TEST_F(RunFiles, OfAStoppedRunArePlottedToItsLastStep) {
  std::filesystem::create_directories(run_);
  write_text(run_ + "/log.csv", "epoch,step,train_loss,train_top1,test_loss,test_top1\n1,10,1,0.5,0.9,0.6\n");
  std::string steps = "step,loss,lr\n";
  for (int step = 1; step <= 48; ++step) steps += fmt::format("{},{},0.1\n", step, 1.0 / step);
  write_text(run_ + "/steps.csv", steps);
  const auto plot = [&] {
    return run_program(
        {.arguments = {run_, "--output=" + run_ + "/plot.svg"}, .program = CONVOY_INPUT "/../tools/plot_run"});
  };
  const ProcessResult result = plot();
  if (contains(result.output, "has no matplotlib")) GTEST_SKIP() << result.output;
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(read_text(run_ + "/plot.svg"), "<!-- 4 -->")) << "the axis goes to epoch 4.8";
  // Before the first epoch's end the table does not tell how long an epoch is.
  write_text(run_ + "/log.csv", "epoch,step,train_loss,train_top1,test_loss,test_top1\n");
  ASSERT_EQ(plot().status, 0);
  EXPECT_TRUE(contains(read_text(run_ + "/plot.svg"), "<!-- step -->"));
}

}  // namespace convoy::test
