/// What a person sees: help, a run's directory, an evaluation, a plan.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/program.h"
#include "app/small_data.h"
#include "unit/data/image_files.h"

namespace convoy::test {

TEST(Face, HelpNamesEveryCommandAndSection) {
  const ProcessResult help = run_program({.arguments = {"--help"}});
  EXPECT_EQ(help.status, 0);
  for (const std::string command :
       {"train", "evaluate", "predict", "import", "export", "plan", "sweep", "info", "check"})
    EXPECT_TRUE(contains(help.output, "\n  " + command + " ")) << command;
  for (const std::string key : {"grid.stages", "checkpoint.resume", "run.directory", "lr.warmup_epochs"})
    EXPECT_TRUE(contains(help.output, "\n  " + key + " ")) << key;
}

TEST(Face, HelpAsMarkdownIsThePageOfAllKeys) {
  const ProcessResult help = run_program({.arguments = {"help", "--markdown"}, .ranks = 2});
  EXPECT_EQ(help.status, 0) << help.output;
  EXPECT_EQ(help.output, read_text(std::string(CONVOY_INPUT) + "/keys.md"))
      << "renew it: build/release/convoy help --markdown > input/keys.md";
}

TEST(Face, HelpOnOneKeyPrintsItAloneAndAnUnknownOneIsRefusedOnce) {
  const ProcessResult help = run_program({.arguments = {"help", "optimizer.lr"}, .ranks = 2});
  EXPECT_EQ(help.status, 0) << help.output;
  EXPECT_TRUE(contains(help.output, "\n  optimizer.lr ")) << help.output;
  EXPECT_FALSE(contains(help.output, "optimizer.momentum")) << help.output;
  EXPECT_FALSE(contains(help.output, "Commands")) << help.output;
  const ProcessResult refused = run_program({.arguments = {"help", "optimizer.lrr"}, .ranks = 2});
  EXPECT_EQ(refused.status, 2) << refused.output;
  const std::string said =
      "convoy: convoy help optimizer.lrr: there is no such key, section or command. Nearest: "
      "optimizer.lr.";
  const std::size_t first = refused.output.find(said);
  ASSERT_NE(first, std::string::npos) << refused.output;
  EXPECT_EQ(refused.output.find(said, first + 1), std::string::npos) << refused.output;
}

TEST(Face, HelpOnACommandHasItsKeysAloneOnceAndAtTheTerminalsWidth) {
  for (const std::vector<std::string>& asked :
       std::vector<std::vector<std::string>>{{"train", "--help"}, {"help", "train"}}) {
    const ProcessResult help = run_program({.arguments = asked, .ranks = 2, .tool = {"env", "COLUMNS=60"}});
    EXPECT_EQ(help.status, 0) << help.output;
    const std::size_t first = help.output.find("convoy train [RUN | FILE.cfg ...]");
    ASSERT_NE(first, std::string::npos) << help.output;
    EXPECT_EQ(help.output.find("convoy train [RUN | FILE.cfg ...]", first + 1), std::string::npos) << "printed twice";
    EXPECT_TRUE(contains(help.output, "\n  train.epochs = 10 ")) << help.output;
    EXPECT_FALSE(contains(help.output, "import.source")) << help.output;
    std::istringstream lines(help.output);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    EXPECT_GT(longest, 56u);
    EXPECT_LE(longest, 60u) << help.output;
  }
}

TEST(Face, WithoutMpirunNothingIsLeftInSharedMemory) {
  const WorkingDirectory work;
  const std::string shared = work / "shared";
  std::filesystem::create_directory(shared);
  // Open MPI 5's and 4's names for the folder that is otherwise /dev/shm, to which other tests write, too. A choice of
  // networks that is already made would be kept.
  const ProcessResult check =
      run_program({.arguments = {"check", "--run.device=cpu"},
                   .tool = {"env", "-u", "OMPI_MCA_btl", "OMPI_MCA_btl_sm_backing_directory=" + shared,
                            "OMPI_MCA_btl_vader_backing_directory=" + shared}});
  EXPECT_EQ(check.status, 2) << "there are no data, but MPI was started\n" << check.output;
  EXPECT_TRUE(contains(check.output, "Open MPI") || contains(check.output, "MPICH")) << check.output;
  EXPECT_TRUE(std::filesystem::is_empty(shared));
}

TEST(Face, AnUnknownCommandIsRefusedWithTheNearest) {
  const ProcessResult result = run_program({.arguments = {"trian"}});
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.output, "train")) << result.output;
}

TEST(Face, WhatCanHardlyBeMeantIsWarnedOfOnce) {
  const WorkingDirectory directory;
  const auto arguments = import_small_data(directory / "small");
  const ProcessResult training =
      run_program({.arguments = arguments + std::vector<std::string>{"--lr.warmup_epochs=5", "--train.max_steps=1",
                                                                     "--run.directory=" + (directory / "run")},
                   .ranks = 2});
  EXPECT_EQ(training.status, 0) << training.output;
  const std::string warning = "convoy: warning: lr.warmup_epochs = 5 is more than train.epochs = 3";
  const std::size_t first = training.output.find(warning);
  ASSERT_NE(first, std::string::npos) << training.output;
  EXPECT_EQ(training.output.find(warning, first + 1), std::string::npos) << training.output;
}

TEST(Face, ARunLearnsAndLeavesEverythingInItsDirectory) {
  const WorkingDirectory directory;
  const auto arguments = import_small_data(directory / "small");
  const std::string run = directory / "run";
  const ProcessResult training = run_program(
      {.arguments = arguments + std::vector<std::string>{"--grid.stages=2", "--run.directory=" + run}, .ranks = 4});
  ASSERT_EQ(training.status, 0) << training.output;
  EXPECT_TRUE(contains(training.output, "2 stages x 2 replicas = 4 ranks")) << training.output;
  EXPECT_TRUE(contains(training.output, "epoch 3/3")) << training.output;
  EXPECT_FALSE(contains(training.output, "\033")) << "a bar where there is no terminal";
  for (const char* name : {"params.cfg", "log.csv", "steps.csv", "checkpoints/step-00000030.h5"})
    EXPECT_TRUE(std::filesystem::exists(run + "/" + name)) << name;
  EXPECT_TRUE(contains(read_text(run + "/log.csv"),
                       "epoch,step,samples,train_loss,train_top1,test_loss,test_top1,lr,samples_per_second,"
                       "data_wait_percent,seconds,val_loss,val_top1,evaluation_seconds,save_seconds,write_seconds,"
                       "test_balanced_accuracy,test_macro_f1,val_balanced_accuracy,val_macro_f1\n1,10,640,"));

  // Bars of four heights: 30 steps are enough to learn them, and a program that does not learn stays at 25 %.
  const ProcessResult evaluation =
      run_program({.arguments = {"evaluate", run + "/params.cfg", "--lr.gamma=0.5"}, .ranks = 2});
  ASSERT_EQ(evaluation.status, 0) << evaluation.output;
  const std::size_t at = evaluation.output.find("top-1 ");
  ASSERT_NE(at, std::string::npos) << evaluation.output;
  EXPECT_GT(std::stod(evaluation.output.substr(at + 6)), 90.0) << evaluation.output;
  EXPECT_TRUE(contains(evaluation.output, "96 samples")) << evaluation.output;
  const std::string unread = "convoy: warning: --lr.gamma has no effect: convoy evaluate does not read it\n";
  EXPECT_TRUE(contains(evaluation.output, unread)) << "and of the file's keys nothing: " << evaluation.output;
  EXPECT_EQ(evaluation.output.find("warning"), evaluation.output.rfind("warning")) << evaluation.output;

  // The version of Convoy is in the run's first line, and in its checkpoints.
  const std::string version = run_program({.arguments = {"--version"}}).output;
  EXPECT_TRUE(version.starts_with("convoy ")) << version;
  EXPECT_TRUE(training.output.starts_with(version)) << training.output;
  const ProcessResult info = run_program({.arguments = {"info", run + "/checkpoints/step-00000030.h5"}});
  EXPECT_EQ(info.status, 0) << info.output;
  EXPECT_TRUE(contains(info.output, "\n  written by    " + version)) << info.output;
  const ProcessResult check = run_program({.arguments = {"check", run + "/checkpoints/step-00000030.h5"}});
  EXPECT_EQ(check.status, 0) << check.output;
}

TEST(Face, InfoGoesOnAfterABadFileAndEndsWithItsStatus) {
  const WorkingDirectory directory;
  import_small_data(directory / "small");
  const std::string shard = directory / "small/data/test.h5";
  const ProcessResult info = run_program({.arguments = {"info", directory / "absent.h5", shard}});
  EXPECT_EQ(info.status, 1) << info.output;
  EXPECT_TRUE(contains(info.output, "cannot open '" + (directory / "absent.h5") + "': No such file")) << info.output;
  EXPECT_TRUE(contains(info.output, "96 samples, 24 each")) << info.output;
  EXPECT_EQ(run_program({.arguments = {"check", shard}}).status, 0);
}

TEST(Face, InfoAndCheckTakeADataSetAsTrainingDoes) {
  const WorkingDirectory directory;
  import_small_data(directory / "small");
  const std::string data = directory / "small/data";
  const ProcessResult info = run_program({.arguments = {"info", data, data + "/test"}});
  EXPECT_EQ(info.status, 0) << info.output;
  EXPECT_TRUE(contains(info.output, data + "/train: data set, 1 shard\n")) << info.output;
  EXPECT_TRUE(contains(info.output, "96 samples, 24 each")) << info.output;
  const ProcessResult check = run_program({.arguments = {"check", data}});
  EXPECT_EQ(check.status, 0) << check.output;
  EXPECT_EQ(check.output, fmt::format("{0}/train.h5: whole\n{0}/test.h5: whole\n", data));
  const ProcessResult absent = run_program({.arguments = {"check", data + "/val", data}});
  EXPECT_EQ(absent.status, 2) << absent.output;
  EXPECT_TRUE(contains(absent.output, "convoy: " + data + "/val: there is no such file or folder")) << absent.output;
  EXPECT_TRUE(contains(absent.output, "/test.h5: whole")) << absent.output;
}

TEST(Face, AnImportNamesWhatItSkipsAndEveryRankWorks) {
  const WorkingDirectory directory;
  const std::string source = directory / "images";
  write_image_folder(source);
  write_text(source + "/train/ant/broken.jpg", "no image");
  std::filesystem::create_symlink("nowhere", source + "/train/bee/gone.jpg");
  const std::vector<std::string> arguments = {"import", "--import.source=" + source,
                                              "--import.output=" + (directory / "out"), "--import.size=24"};
  const ProcessResult import = run_program({.arguments = arguments, .ranks = 2});
  EXPECT_EQ(import.status, 0) << import.output;
  EXPECT_TRUE(contains(import.output, "skipped 'train/ant/broken.jpg': it is neither a JPEG nor a PNG"))
      << import.output;
  EXPECT_TRUE(contains(import.output, "skipped 'train/bee/gone.jpg': it is a link to 'nowhere', which does not exist"))
      << import.output;
  EXPECT_TRUE(contains(import.output, "train: 24 images 24x24x3, 3 classes")) << import.output;
  EXPECT_TRUE(contains(import.output, "skipped 2 bad images")) << import.output;

  const ProcessResult strict = run_program(
      {.arguments = arguments + std::vector<std::string>{"--import.strict=on", "--import.output=" + (directory / "s")},
       .ranks = 2});
  EXPECT_EQ(strict.status, 2) << strict.output;
  EXPECT_TRUE(contains(strict.output, "convoy: import.strict = true: 'train/ant/broken.jpg' in '")) << strict.output;
  EXPECT_TRUE(std::filesystem::is_empty(directory / "s"));
}

// The sizes of the paper and of a public comparison; unit/model/network_test has them to the last parameter.
TEST(Face, APlanOfThePyramidNetExampleHasItsSize) {
  const WorkingDirectory directory;
  std::string records;
  for (int i = 0; i < 128; ++i) records += static_cast<char>(i % 10) + std::string(3072, '\x40');
  std::filesystem::create_directories(directory / "cifar");
  write_text(directory / "cifar/data_batch_1.bin", records);
  write_text(directory / "cifar/test_batch.bin", records);
  const ProcessResult import = run_program(
      {.arguments = {"import", "--import.source=" + (directory / "cifar"), "--import.output=" + (directory / "data")}});
  ASSERT_EQ(import.status, 0) << import.output;
  const std::vector<std::string> plan = {"plan", std::string(CONVOY_INPUT) + "/cifar10_pyramidnet.cfg",
                                         "--data.train=" + (directory / "data/train"),
                                         "--data.test=" + (directory / "data/test")};
  const ProcessResult example = run_program({.arguments = plan});
  EXPECT_EQ(example.status, 0) << example.output;
  EXPECT_TRUE(contains(example.output, "pyramidnet110-a270: 28.5 M parameters")) << example.output;
  const ProcessResult other =
      run_program({.arguments = plan + std::vector<std::string>{"--model.name=pyramidnet104-a255"}});
  EXPECT_TRUE(contains(other.output, "pyramidnet104-a255: 24.3 M parameters")) << other.output;
}

TEST(Face, APlanShowsTheStepWithoutDoingIt) {
  const WorkingDirectory directory;
  auto arguments = import_small_data(directory / "small");
  arguments[0] = "plan";
  const ProcessResult plan =
      run_program({.arguments = arguments + std::vector<std::string>{"--grid.stages=2", "--schedule.kind=1f1b"}});
  EXPECT_EQ(plan.status, 0) << plan.output;
  EXPECT_TRUE(contains(plan.output, "FF..BBFBBFBBFBBFBBFBBFBB.BB")) << plan.output;
  EXPECT_TRUE(contains(plan.output, "bubble")) << plan.output;
}

}  // namespace convoy::test
