/// The table of several runs: which rows and columns it has, and its mean and deviation.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/params/parse.h"

#include "run/compare.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

class Summary : public testing::Test {
 protected:
  Summary() : before_(std::filesystem::current_path()) { std::filesystem::current_path(directory_.path()); }
  void TearDown() override { std::filesystem::current_path(before_); }

  static void write(const std::string& name, const std::string& file, const std::string& text) {
    std::filesystem::create_directories(name);
    std::ofstream(name + "/" + file) << text;
  }
  // Writes a run of three epochs, the second of which has the best top-1.
  static void write_run(const std::string& name, std::uint64_t seed, const std::string& best_row) {
    Parameters params;
    params.train.seed = seed;
    params.run.directory = name;
    write(name, "params.cfg", render(params));
    write(name, "log.csv",
          "epoch,step,train_loss,test_loss,test_top1,val_loss,val_top1,val_macro_f1\n1,10,2,,,0.5,0.5,0.5\n2,20,1," +
              best_row + "\n3,30,0.5,,,0.7,0.125,0.625\n");
  }

  test::TemporaryDirectory directory_;
  std::filesystem::path before_;
};

TEST_F(Summary, HasTheBestEpochOfEachRunWithMeanAndDeviation) {
  write_run("a", 1, ",,0.25,0.5625,0.25");
  write_run("b", 2, ",,0.75,0.625,");
  write_run("c", 5, ",,0.5,0.6875,0.5");
  // 0.25 and 0.0625 are the deviations over n - 1.
  EXPECT_EQ(summarise_runs({"a", "b", "c"}),
            "train.seed = 1; 2; 5\n"
            "run                 step          of  val loss  val top-1  val macro F1\n"
            "a                     20  best epoch    0.2500    56.25 %        0.2500\n"
            "b                     20  best epoch    0.7500    62.50 %\n"
            "c                     20  best epoch    0.5000    68.75 %        0.5000\n"
            "mean                      best epoch    0.5000    62.50 %\n"
            "standard deviation        best epoch    0.2500     6.25 %\n"
            "a                     30  last epoch    0.7000    12.50 %        0.6250\n"
            "b                     30  last epoch    0.7000    12.50 %        0.6250\n"
            "c                     30  last epoch    0.7000    12.50 %        0.6250\n"
            "mean                      last epoch    0.7000    12.50 %        0.6250\n"
            "standard deviation        last epoch    0.0000     0.00 %        0.0000\n");
}

TEST_F(Summary, OfARunWithoutBestCheckpointHasOnlyTheLastEpoch) {
  write_run("a", 1, ",,0.25,0.5625,0.25");
  Parameters params;
  params.checkpoint.best = false;
  write("a", "params.cfg", render(params));
  const std::string table = summarise_runs({"a"});
  EXPECT_CONTAINS(table, "    30  last epoch    0.7000    12.50 %        0.6250\n");
  EXPECT_EQ(table.find("best epoch"), std::string::npos) << table;
}

TEST_F(Summary, TakesTheEpochWithTheLowestLossOfThoseWithTheSameMetric) {
  write_run("a", 1, ",,0.25,0.5,0.25");
  EXPECT_CONTAINS(summarise_runs({"a"}), "    20  best epoch    0.2500    50.00 %        0.2500\n");
}

TEST_F(Summary, TakesTheTestSetBeforeTheBestEpochAndSaysSo) {
  write_run("a", 1, ",,0.25,0.5625,0.25");
  write("a", "test.csv", "step,samples,loss,top1,macro_f1\n30,100,0.125,0.75,0.5\n");
  const std::string table = summarise_runs({"a"});
  EXPECT_CONTAINS(table, "test loss  test top-1  test macro F1\n");
  EXPECT_CONTAINS(table, "    30  test.csv     0.1250     75.00 %         0.5000\n");
  EXPECT_EQ(table.find("val "), std::string::npos) << table;
  EXPECT_EQ(table.find("seed"), std::string::npos) << "one run differs from none";
  EXPECT_EQ(table.find("nan"), std::string::npos) << "one value has no deviation";
}

// train.metric is auto: it follows from what the epochs have.
TEST_F(Summary, TakesTheEpochWithTheLowestRmseOfRunsThatPredictNumbers) {
  write_run("a", 1, ",,0.25,0.5625,0.25");
  write("a", "log.csv",
        "epoch,step,train_loss,val_loss,val_top1,val_rmse,val_b_rmse\n1,10,2,0.5,,1.5,2\n2,20,1,0.25,,0.0123,0.02\n"
        "3,30,0.5,0.125,,0.5,1\n");
  EXPECT_CONTAINS(summarise_runs({"a"}),
                  "run                 step          of  val loss  val b RMSE  val RMSE\n"
                  "a                     20  best epoch    0.2500        0.02    0.0123\n");
}

TEST_F(Summary, LeavesOutWhatWasNotMeasuredAndRefusesWhatIsNoRun) {
  write_run("a", 1, ",,0.25,0.5625,0.25");
  write("begun", "params.cfg", render(Parameters{}));
  EXPECT_EQ(summarise_runs({"a", "begun"}), summarise_runs({"a"}));
  const auto refusal = [](const std::string& path) {
    return test::message_of<RequestError>([&] { summarise_runs({path}); });
  };
  EXPECT_EQ(refusal("begun"), "None of the runs was measured: there is nothing to sum up.");
  EXPECT_EQ(refusal("nothing"),
            "nothing is not the directory of a run: it has no params.cfg. Name only run directories.");
}

}  // namespace
}  // namespace convoy
