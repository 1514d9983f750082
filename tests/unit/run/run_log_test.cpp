/// The run's tables lose rows after the checkpoint, and no others.
#include "run/run_log.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convoy/base/error.h"

#include "unit/messages.h"

namespace convoy {

namespace {

class RunLogTest : public testing::Test {
 protected:
  RunLogTest() : directory_(std::filesystem::temp_directory_path() / fmt::format("convoy-run-log-{}", getpid())) {
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string text(const std::string& name) const {
    std::ostringstream content;
    content << std::ifstream(directory_ / name).rdbuf();
    return content.str();
  }

  std::filesystem::path directory_;
};

StepMetrics metrics_of(double loss, std::int64_t num_correct, std::int64_t num_samples) {
  return {{{.loss = loss, .num_correct = num_correct, .num_labels = num_samples, .num_samples = num_samples}}};
}

EpochRow epoch_row(std::int64_t epoch) {
  return {.epoch = epoch,
          .step = 10 * epoch,
          .samples = 640 * epoch,
          .train = metrics_of(64, 32, 64),
          .test = metrics_of(5, 9, 10),
          .lr = 0.1};
}

}  // namespace

TEST_F(RunLogTest, EachObjectiveHasItsColumns) {
  const StepMetrics both{{{.loss = 8, .num_correct = 3, .num_labels = 12, .num_samples = 4},
                          {.loss = 2, .num_correct = 1, .num_labels = 4, .num_samples = 4}}};
  EpochRow row = epoch_row(1);
  row.train = both;
  row.test.reset();
  row.val = both;
  {
    RunLog log(directory_.string(), {}, MetricList({.objectives = {"masked words", "next sentence"}}));
    log.add_step({.step = 10, .metrics = both, .lr = 0.25, .fingerprint = 0xabc}, 0);
    log.add_epoch(row);
    log.write_test({.step = 10, .checkpoint = "best.h5", .metrics = both});
  }
  EXPECT_EQ(text("steps.csv"),
            "step,loss,lr,masked_words_loss,masked_words_top1,next_sentence_loss,next_sentence_top1,fingerprint,"
            "skipped,top1\n"
            "10,2.5,0.25,2,0.25,0.5,0.25,0000000000000abc,,0.25\n");
  EXPECT_EQ(text("test.csv"),
            "step,samples,loss,top1,masked_words_loss,masked_words_top1,next_sentence_loss,next_sentence_top1\n"
            "10,4,2.5,0.25,2,0.25,0.5,0.25\n");
  const std::string epochs = text("log.csv");
  EXPECT_CONTAINS(epochs, ",train_masked_words_loss,train_masked_words_top1,train_next_sentence_loss,");
  EXPECT_CONTAINS(epochs, ",2,0.25,0.5,0.25,,,,,2,0.25,0.5,0.25,0.00\n") << "those of the test set are empty";
  const RunLog log(directory_.string(),
                   {.epochs = 10,
                    .steps = 10,
                    .expected_epochs = {.last = 10, .every = 10},
                    .expected_steps = {.last = 10, .every = 10}},
                   MetricList({.objectives = {"masked words", "next sentence"}}));
  EXPECT_TRUE(log.losses().empty()) << "its own rows";
  EXPECT_EQ(text("log.csv"), epochs);
}

TEST_F(RunLogTest, DropsRowsBeyondTheCheckpoint) {
  {
    RunLog log(directory_.string(), {});
    for (std::int64_t step = 1; step <= 25; ++step)
      log.add_step({.step = step, .metrics = metrics_of(1.0 / static_cast<double>(step), 0, 1), .lr = 0.1}, 0);
    log.add_epoch(epoch_row(1));
    log.add_epoch(epoch_row(2));
  }
  std::ofstream(directory_ / "steps.csv", std::ios::app) << "26,0.0";  // cut short by a crash
  RunLog log(directory_.string(), {.epochs = 13, .steps = 13});
  log.add_step({.step = 14, .metrics = metrics_of(0.5, 0, 1), .lr = 0.1}, 0);
  log.flush();
  const std::string steps = text("steps.csv");
  EXPECT_NE(steps.find("\n13,"), std::string::npos);
  EXPECT_NE(steps.find("\n14,0.5,"), std::string::npos);
  EXPECT_EQ(steps.find("\n15,"), std::string::npos);
  EXPECT_EQ(steps.find("26"), std::string::npos);
  const std::string epochs = text("log.csv");
  EXPECT_NE(epochs.find("\n1,10,640,1,0.5,0.5,0.9,0.1,"), std::string::npos) << epochs;
  EXPECT_EQ(epochs.find("\n2,20,"), std::string::npos);
}

TEST_F(RunLogTest, LossesKeepAllTheirDigits) {
  RunLog log(directory_.string(), {});
  const double loss = 0.1 + 0.2;  // 0.30000000000000004
  log.add_step({.step = 1, .metrics = metrics_of(loss, 0, 1), .lr = 0.1}, 0);
  log.flush();
  EXPECT_NE(text("steps.csv").find("1,0.30000000000000004,"), std::string::npos);
}

TEST_F(RunLogTest, StepsThatWereNotAppliedSayWhy) {
  RunLog log(directory_.string(), {});
  log.add_step({.step = 1, .metrics = metrics_of(0.5, 0, 1), .lr = 0.25, .outcome = StepOutcome::kBad}, 0);
  log.add_step({.step = 2, .metrics = metrics_of(0.5, 0, 1), .lr = 0.25, .outcome = StepOutcome::kOverflow}, 0);
  log.add_step({.step = 3, .metrics = metrics_of(0.5, 0, 1), .lr = 0.25}, 0);
  log.flush();
  EXPECT_EQ(text("steps.csv"),
            "step,loss,lr,fingerprint,skipped,top1\n1,0.5,0.25,,bad,0\n2,0.5,0.25,,overflow,0\n3,0.5,0.25,,,0\n");
}

TEST_F(RunLogTest, RowsAreInTheFileWithinSeconds) {
  RunLog log(directory_.string(), {});
  const double begin = 1000, late = begin + RunLog::kMaxWaitSeconds;
  log.add_step({.step = 1, .metrics = metrics_of(0.5, 0, 1), .lr = 0.25}, begin);
  log.add_step({.step = 2, .metrics = metrics_of(0.5, 0, 1), .lr = 0.25}, late - 0.01);
  EXPECT_EQ(text("steps.csv").find("\n1,"), std::string::npos) << "a call of the system for each row is too much";
  log.add_step({.step = 3, .metrics = metrics_of(0.5, 0, 1), .lr = 0.25}, late);
  EXPECT_NE(text("steps.csv").find("\n1,0.5,0.25,,,0\n2,0.5,0.25,,,0\n3,0.5,0.25,,,0\n"), std::string::npos)
      << text("steps.csv");
  log.add_step({.step = 4, .metrics = metrics_of(0.5, 0, 1), .lr = 0.25}, late + 1);
  EXPECT_EQ(text("steps.csv").find("\n4,"), std::string::npos) << "its time starts again";
  log.write_rows();
  EXPECT_NE(text("steps.csv").find("\n4,"), std::string::npos);
}

TEST_F(RunLogTest, TellsWhichTablesHaveLostRows) {
  const RunLog::Keep keep{
      .epochs = 20, .steps = 2, .expected_epochs = {.last = 20, .every = 10}, .expected_steps = {.last = 2}};
  {
    RunLog log(directory_.string(), {});
    log.add_step({.step = 1, .metrics = metrics_of(0.5, 0, 1), .lr = 0.1}, 0);
    log.add_step({.step = 2, .metrics = metrics_of(0.5, 0, 1), .lr = 0.1}, 0);
    log.add_epoch(epoch_row(1));
    log.add_epoch(epoch_row(2));
  }
  EXPECT_TRUE(RunLog(directory_.string(), keep).losses().empty());
  std::filesystem::resize_file(directory_ / "steps.csv", text("steps.csv").size() - 1);
  std::filesystem::remove(directory_ / "log.csv");
  const RunLog log(directory_.string(), keep);
  ASSERT_EQ(log.losses().size(), 2u);
  EXPECT_CONTAINS(log.losses()[0],
                  "log.csv has lost 2 of the 2 rows that this run wrote before: those of step 10 to 20");
  EXPECT_CONTAINS(log.losses()[1], "steps.csv has lost 1 of the 2 rows that this run wrote before: those of step 2");
}

// Opening a pipe would wait for its reader or writer.
TEST_F(RunLogTest, WhatIsNoFileIsNamed) {
  for (const char* name : {"log.csv", "steps.csv", "steps.csv.partial"}) {
    const std::string path = directory_ / name;
    std::filesystem::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_CONTAINS(test::message_of<Error>([&] { RunLog(directory_.string(), {}); }),
                    path + "' is not a file but a named pipe");
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    EXPECT_CONTAINS(test::message_of<Error>([&] { RunLog(directory_.string(), {}); }),
                    path + "' is not a file but a directory");
    std::filesystem::remove(path);
  }
}

TEST_F(RunLogTest, AnUnwritableDirectoryIsNamed) {
  const std::string absent = (directory_ / "absent").string();
  EXPECT_CONTAINS(test::message_of<Error>([&] { RunLog(absent, {}); }), "absent/log.csv");
}

TEST_F(RunLogTest, AnEpochMeasuredOnValHasItInColumnsOfItsOwn) {
  EpochRow row = epoch_row(1);
  std::swap(row.val, row.test);
  RunLog(directory_.string(), {}).add_epoch(row);
  const std::string log = text("log.csv");
  EXPECT_NE(log.find(",seconds,val_loss,val_top1,evaluation_seconds,save_seconds,write_seconds\n1,10,640,1,0.5,,,0.1,"),
            std::string::npos)
      << log;
  EXPECT_TRUE(log.ends_with(",0.5,0.9,0.00,0.00,0.00\n")) << log;
}

TEST_F(RunLogTest, TheTestResultOfARunIsARowOfItsOwnFile) {
  const RunLog log(directory_.string(), {});
  log.write_test({.step = 20, .checkpoint = "best.h5", .metrics = metrics_of(5, 9, 10)});
  log.write_test({.step = 30, .checkpoint = "best.h5", .metrics = metrics_of(4, 9, 10)});
  EXPECT_EQ(text("test.csv"), "step,samples,loss,top1\n30,10,0.4,0.9\n");
  const RunLog resumed(directory_.string(), {.epochs = 30, .steps = 30});
  EXPECT_FALSE(std::filesystem::exists(directory_ / "test.csv")) << "it is no result of a run that goes on";
}

TEST_F(RunLogTest, AnEpochWithoutATestLeavesItsColumnsEmpty) {
  EpochRow row = epoch_row(1);
  row.test.reset();
  RunLog(directory_.string(), {}).add_epoch(row);
  EXPECT_NE(text("log.csv").find("\n1,10,640,1,0.5,,,0.1,"), std::string::npos) << text("log.csv");
}

TEST_F(RunLogTest, MetricsOfClassesHaveColumnsBehindAllOthers) {
  StepMetrics measured = metrics_of(5, 9, 10);
  measured.classes = {{.num_samples = 2, .num_predicted = 1, .num_correct = 1},
                      {.num_samples = 8, .num_predicted = 9, .num_correct = 8}};
  EpochRow row = epoch_row(1);
  row.test = measured;
  RunLog log(directory_.string(), {}, MetricList({.outputs = {"a", "b"}}));
  log.add_epoch(row);
  log.write_test({.step = 10, .checkpoint = "best.h5", .metrics = measured});
  // Recalls 1/2 and 8/8; F1 2/3 and 16/17.
  const std::string log_csv = text("log.csv");
  EXPECT_CONTAINS(log_csv, ",write_seconds,test_balanced_accuracy,test_macro_f1,val_balanced_accuracy,val_macro_f1\n");
  EXPECT_TRUE(log_csv.ends_with(",0.00,0.75,0.803921569,,\n")) << log_csv;
  EXPECT_EQ(text("test.csv"), "step,samples,loss,top1,balanced_accuracy,macro_f1\n10,10,0.5,0.9,0.75,0.803921569\n");
}

// Their columns are the same as those of classes, so that tables can be read alike.
TEST_F(RunLogTest, NumbersLeaveTheColumnsOfTop1Empty) {
  StepMetrics measured = metrics_of(5, 0, 10);
  measured.targets.resize(2);
  measured.targets[0].add(3, 1);
  measured.targets[0].add(1, 3);
  measured.targets[1].add(1, 2);
  EpochRow row = epoch_row(1);
  row.test = measured;
  {
    RunLog log(directory_.string(), {}, MetricList({.target = TargetKind::kNumbers, .outputs = {"a", "b"}}));
    log.add_step({.step = 10, .metrics = measured, .lr = 0.25}, 0);
    log.add_epoch(row);
    log.write_test({.step = 10, .checkpoint = "best.h5", .metrics = measured});
  }
  EXPECT_EQ(text("steps.csv"), "step,loss,lr,fingerprint,skipped,top1\n10,0.5,0.25,,,\n");
  const std::string columns = "rmse,mae,r2,a_rmse,a_mae,a_r2,b_rmse,b_mae,b_r2";
  EXPECT_EQ(text("test.csv"), "step,samples,loss,top1," + columns + "\n10,10,0.5,,1.5,1.5,-3,2,2,-3,1,1,nan\n");
  const std::string log_csv = text("log.csv");
  EXPECT_CONTAINS(log_csv, ",write_seconds,test_rmse,test_mae,test_r2,test_a_rmse,");
  EXPECT_CONTAINS(log_csv, "\n1,10,640,1,,0.5,,0.1,");
}

// Tables of version 0.9.0 have no metrics of classes, and no top-1 of steps.
TEST_F(RunLogTest, TablesOfVersion090GetTheColumnsOfMetrics) {
  const std::string epochs =
      "epoch,step,samples,train_loss,train_top1,test_loss,test_top1,lr,samples_per_second,data_wait_percent,seconds,"
      "val_loss,val_top1,evaluation_seconds,save_seconds,write_seconds";
  std::ofstream(directory_ / "log.csv") << epochs + "\n1,2,60,0.7,0.6,0.5,0.8,0.1,282.4,73.15,0.11,,,0.03,0.00,0.00\n";
  std::ofstream(directory_ / "steps.csv") << "step,loss,lr,fingerprint,skipped\n1,0.5,0.25,,bad\n2,0.5,0.25,,\n";
  const RunLog log(directory_.string(),
                   {.epochs = 2, .steps = 2, .expected_epochs = {.last = 2, .every = 2}, .expected_steps = {.last = 2}},
                   MetricList({.outputs = {"a", "b"}}));
  EXPECT_TRUE(log.losses().empty());
  EXPECT_EQ(text("log.csv"), epochs +
                                 ",test_balanced_accuracy,test_macro_f1,val_balanced_accuracy,val_macro_f1\n"
                                 "1,2,60,0.7,0.6,0.5,0.8,0.1,282.4,73.15,0.11,,,0.03,0.00,0.00,,,,\n");
  EXPECT_EQ(text("steps.csv"), "step,loss,lr,fingerprint,skipped,top1\n1,0.5,0.25,,bad,\n2,0.5,0.25,,,\n");
}

// Older tables have no columns of val, evaluations and saves, and name samples images.
TEST_F(RunLogTest, RowsOfAnOlderTableGetTheColumnsThatItDidNotHave) {
  std::ofstream(directory_ / "log.csv") << "epoch,step,samples,train_loss,train_top1,test_loss,test_top1,lr,"
                                           "images_per_second,data_wait_percent,seconds\n"
                                           "1,10,640,1.5,0.5,1.25,0.75,0.1,123.4,0.01,5.19\n";
  RunLog log(directory_.string(), {.epochs = 10, .expected_epochs = {.last = 10, .every = 10}});
  log.add_epoch(epoch_row(2));
  EXPECT_TRUE(log.losses().empty());
  EXPECT_EQ(text("log.csv"),
            "epoch,step,samples,train_loss,train_top1,test_loss,test_top1,lr,samples_per_second,data_wait_percent,"
            "seconds,val_loss,val_top1,evaluation_seconds,save_seconds,write_seconds\n"
            "1,10,640,1.5,0.5,1.25,0.75,0.1,123.4,0.01,5.19,,,,,\n"
            "2,20,1280,1,0.5,0.5,0.9,0.1,0.0,0.00,0.00,,,0.00,0.00,0.00\n");
}

}  // namespace convoy
