/// Conditions between keys, and the needs of commands.
#include <filesystem>

#include <gtest/gtest.h>

#include "params/key_table.h"
#include "unit/io/temporary_directory.h"
#include "unit/params/support.h"

namespace convoy {
namespace {

using test::kNothingThrown;
using testing::complaint;
using testing::file_complaint;

TEST(Consistency, MicroBatchDividesTheGlobalBatch) {
  EXPECT_EQ(complaint({"plan", "--batch.global=64", "--batch.micro=7"}),
            "batch.micro = 7 does not divide batch.global = 64. Nearest that do: 4, 8. (batch.micro: command line; "
            "batch.global: command line)");
  EXPECT_EQ(file_complaint("[batch]\nmicro = 256\n"),
            "batch.micro = 256 does not divide batch.global = 128. Nearest that do: 128. (batch.micro: a.cfg:2; "
            "batch.global: default)");
  EXPECT_NE(complaint({"plan", "--batch.global=13", "--batch.micro=2"}).find("Nearest that do: 1, 13."),
            std::string::npos);
  EXPECT_EQ(complaint({"plan", "--batch.global=13", "--batch.micro=13"}), kNothingThrown);
  EXPECT_EQ(complaint({"plan", "--batch.global=16777216", "--batch.micro=1"}), kNothingThrown);
  // 16777213 is prime: the search for divisors must end nevertheless.
  EXPECT_NE(complaint({"plan", "--batch.global=16777213"}).find("Nearest that do: 1, 16777213."), std::string::npos);
}

TEST(Consistency, AGlobalBatchThatIsChangedAloneIsToldWhatFits) {
  EXPECT_EQ(
      complaint({"plan", "--batch.global=100"}),
      "batch.micro = 32 does not divide batch.global = 100. Nearest that do: 25, 50. Or batch.global = 96 or 128, "
      "which 32 divides. (batch.micro: default; batch.global: command line)");
  EXPECT_NE(file_complaint("[batch]\nmicro = 32\nglobal = 8\n").find(" Or batch.global = 32, which 32 divides."),
            std::string::npos);
}

TEST(Consistency, StepNeedsOnePeriod) {
  EXPECT_EQ(complaint({"plan", "--lr.schedule=step"}),
            "lr.schedule = step needs one number of epochs, its period, as in lr.step_epochs = 30; lr.step_epochs = "
            "(nothing). (lr.schedule: command line; lr.step_epochs: default)");
  EXPECT_NE(complaint({"plan", "--lr.schedule=step", "--lr.step_epochs=30,60"}), kNothingThrown);
  EXPECT_EQ(complaint({"plan", "--lr.schedule=step", "--lr.step_epochs=30"}), kNothingThrown);
}

TEST(Consistency, MultistepNeedsAscendingMilestones) {
  EXPECT_NE(complaint({"plan", "--lr.schedule=multistep"}).find("needs its milestones"), std::string::npos);
  EXPECT_EQ(complaint({"plan", "--lr.schedule=multistep", "--lr.step_epochs=60,30,60"}),
            "lr.step_epochs = 60, 30, 60 is not ascending, but lr.schedule = multistep needs that. Nearest: 30, 60. "
            "(lr.schedule: command line; lr.step_epochs: command line)");
  EXPECT_NE(complaint({"plan", "--lr.schedule=multistep", "--lr.step_epochs=30,30"}), kNothingThrown);
  EXPECT_EQ(complaint({"plan", "--lr.schedule=multistep", "--lr.step_epochs=30"}), kNothingThrown);
  EXPECT_EQ(complaint({"plan", "--lr.schedule=multistep", "--lr.step_epochs=30,60,80"}), kNothingThrown);
}

TEST(Consistency, GoingBackNeedsTwoCheckpoints) {
  EXPECT_EQ(
      complaint({"train", "--train.on_bad_step=rollback", "--checkpoint.keep=1"}),
      "train.on_bad_step = rollback needs two checkpoints: the newest one is only known to be good after the next "
      "step. Allowed for checkpoint.keep: 2 and more, or 0 (all); it is 1. (train.on_bad_step: command line; "
      "checkpoint.keep: command line)");
}

TEST(Consistency, NesterovNeedsMomentum) {
  EXPECT_EQ(
      complaint({"plan", "--optimizer.nesterov=true", "--optimizer.momentum=0"}),
      "optimizer.nesterov = true needs optimizer.momentum above 0; it is 0. Usual: 0.9. (optimizer.nesterov: command "
      "line; optimizer.momentum: command line)");
  EXPECT_EQ(complaint({"plan", "--optimizer.nesterov=true"}), kNothingThrown);
  EXPECT_EQ(complaint({"plan", "--optimizer.momentum=0"}), kNothingThrown);
}

TEST(Consistency, NesterovIsSgdsAlone) {
  EXPECT_EQ(complaint({"plan", "--optimizer.kind=lars", "--optimizer.nesterov=true"}),
            "optimizer.nesterov = true works only with optimizer.kind = sgd; it is lars. (optimizer.nesterov: command "
            "line; optimizer.kind: command line)");
  EXPECT_EQ(complaint({"plan", "--optimizer.kind=adamw"}), kNothingThrown);
}

std::vector<std::string> warnings(const std::vector<std::string>& keys) {
  std::vector<std::string> arguments = {"plan"};
  arguments.insert(arguments.end(), keys.begin(), keys.end());
  return warnings_for(testing::request(arguments).params);
}

TEST(Warnings, AWarmupBeyondTheLastEpoch) {
  const std::vector<std::string> told = {
      "lr.warmup_epochs = 5 is more than train.epochs = 3: the learning rate will never reach optimizer.lr"};
  EXPECT_EQ(warnings({"--lr.warmup_epochs=5", "--train.epochs=3"}), told);
  EXPECT_TRUE(warnings({"--lr.warmup_epochs=3", "--train.epochs=3"}).empty());
}

TEST(Warnings, MilestonesThatTheScheduleDoesNotUse) {
  const std::vector<std::string> told = {"lr.step_epochs = 30, 60 has no effect with lr.schedule = cosine"};
  EXPECT_EQ(warnings({"--lr.schedule=cosine", "--lr.step_epochs=30,60"}), told);
  EXPECT_TRUE(warnings({"--lr.schedule=multistep", "--lr.step_epochs=30,60"}).empty());
  EXPECT_TRUE(warnings({"--lr.schedule=step", "--lr.step_epochs=30"}).empty());
  EXPECT_TRUE(warnings({"--lr.schedule=cosine"}).empty());
}

TEST(Warnings, ADeltaWithoutAHuberLoss) {
  EXPECT_EQ(warnings({"--train.huber_delta=2"}),
            std::vector<std::string>{"train.huber_delta = 2 has no effect with train.loss = auto"});
  EXPECT_EQ(warnings({"--train.huber_delta=2", "--train.loss=mse"}),
            std::vector<std::string>{"train.huber_delta = 2 has no effect with train.loss = mse"});
  EXPECT_TRUE(warnings({"--train.huber_delta=2", "--train.loss=huber"}).empty());
}

TEST(Augmentations, ThatCannotBeTogetherAreRefused) {
  EXPECT_NE(complaint({"train", "--augment.cutmix=1", "--batch.micro=1", "--batch.global=4"})
                .find("augment.cutmix = 1 mixes images of one micro-batch, and batch.micro is 1"),
            std::string::npos);
  EXPECT_NE(complaint({"train", "--augment.erase=0.5", "--augment.cutout=4"})
                .find("both cut a hole into images, but only one of them can be used"),
            std::string::npos);
  EXPECT_NE(complaint({"train", "--data.balanced=true", "--train.class_weights=balanced"})
                .find("would each make up for rare classes"),
            std::string::npos);
  EXPECT_NE(complaint({"train", "--train.class_weights=1,-2"}).find("train.class_weights = 1,-2"), std::string::npos);
  EXPECT_NE(complaint({"train", "--data.balanced=true", "--data.shuffle=false"}).find("data.balanced = true draws"),
            std::string::npos);
}

TEST(Warnings, PatienceWithoutMeasurements) {
  EXPECT_EQ(warnings({"--train.patience_epochs=3", "--train.evaluate_every_epochs=0"}).size(), 1u);
  EXPECT_TRUE(warnings({"--train.patience_epochs=3"}).empty());
}

TEST(Warnings, RecomputingAsMuchAsNoLimitNeeds) {
  EXPECT_EQ(warnings({"--memory.recompute=auto"}).size(), 1u);
  EXPECT_TRUE(warnings({"--memory.recompute=auto", "--memory.limit_gib=2"}).empty());
  EXPECT_TRUE(warnings({"--memory.recompute=cell"}).empty());
}

TEST(Paths, ThatBeginWithATildeAreRefused) {
  EXPECT_EQ(
      complaint({"plan", "--run.directory=~/runs/a"}),
      "command line: run.directory = ~/runs/a begins with '~', which the shell did not replace. Allowed: a path. On "
      "the command line write $HOME/... for it, in a parameter file the whole path.");
  EXPECT_NE(complaint({"plan", "--init.weights=~ann/w.h5"}).find("Allowed: random, or a path. On"), std::string::npos);
  EXPECT_EQ(complaint({"plan", "--run.directory=./~/a", "--data.train=a~"}), test::kNothingThrown);
  EXPECT_EQ(complaint({"plan", "--run.directory=~/a", "--run.directory=/home/ann/a"}), test::kNothingThrown);
}

TEST(Paths, AreAllThatTakeAPath) {
  for (const params::Key& key : params::keys()) {
    const bool takes_path = key.value.allowed.ends_with("path");
    const std::string said = complaint({"plan", "--" + key.name + "=~/x"});
    EXPECT_EQ(said.find("begins with '~'") != std::string::npos, takes_path) << key.name << ": " << said;
  }
}

/// A folder with a link to itself.
class Links : public ::testing::Test {
 protected:
  Links() { std::filesystem::create_symlink("loop", loop()); }
  std::string loop() const { return folder_ / "loop"; }

 private:
  test::TemporaryDirectory folder_;
};

TEST_F(Links, ThatLeadInACircleAreRefusedByTheKeyOfTheCommand) {
  EXPECT_EQ(complaint({"plan", "--run.directory=" + loop()}),
            "command line: run.directory = " + loop() + ": its symbolic links lead in a circle. Choose another path.");
  for (const std::string key : {"data.train", "init.weights", "checkpoint.resume"})
    EXPECT_EQ(complaint({"train", "--data.train=a", "--data.test=b", "--" + key + "=" + loop() + "/a"})
                  .find("command line: " + key + " = "),
              0u)
        << key;
  EXPECT_EQ(complaint({"plan", "--import.source=" + loop()}), kNothingThrown) << "a plan imports nothing";
}

TEST(Paths, ThatAreTooLongAreRefusedByTheKeyOfTheCommand) {
  const std::string too_long = std::string(256, 'a'),
                    limits = "each name in it may have 255 bytes, the whole path 4095 bytes";
  const std::string said = complaint({"plan", "--run.directory=new/" + too_long});
  EXPECT_EQ(said, "command line: run.directory = new/" + std::string(56, 'a') + "...: the path is too long: " + limits +
                      ". Choose another path.");
  for (const std::string key : {"--data.train=./", "--data.test=./", "--init.weights=./"})
    EXPECT_NE(complaint({"train", "--data.train=a", "--data.test=b", key + too_long}).find(limits), std::string::npos)
        << key;
  EXPECT_NE(complaint({"import", "--import.source=a", "--import.output=" + too_long}).find("import.output = "),
            std::string::npos);
  EXPECT_EQ(complaint({"plan", "--import.output=" + too_long}), kNothingThrown);
}

// A file gets a longer name while it is written.
TEST(Paths, LeaveRoomForWhatIsWrittenAtThem) {
  const auto file = [](std::size_t size, const std::string& end) { return std::string(size - end.size(), 'a') + end; };
  EXPECT_EQ(complaint({"plan", "--plan.draw=" + file(247, ".svg")}), kNothingThrown);
  EXPECT_NE(complaint({"plan", "--plan.draw=" + file(248, ".svg")}).find("plan.draw = "), std::string::npos);
  EXPECT_NE(complaint({"export", "--export.output=" + file(248, ".safetensors")}).find("the path is too long"),
            std::string::npos);
  std::string deep = "runs";
  while (deep.size() < 4050) deep += "/" + std::string(200, 'd');
  EXPECT_EQ(complaint({"plan", "--run.directory=" + deep.substr(0, 4050)}), kNothingThrown);
  EXPECT_NE(complaint({"plan", "--run.directory=" + deep.substr(0, 4060)}).find("run.directory = "), std::string::npos);
}

TEST(Paths, ThatARunTookForNamesAreReadBack) {
  EXPECT_EQ(parse_parameters("[run]\ndirectory = ~/a\n", "a.h5").run.directory, "~/a");
}

TEST(Needs, TrainNeedsTrainingDataAndSomethingToMeasureOn) {
  EXPECT_EQ(complaint({"train"}),
            "convoy train needs data.train: what to train on: a shard, a folder of shards, or a prefix such as "
            "data/fashion/train. Give it in a parameter file, under [data], or as --data.train=PATH.");
  const std::string test = complaint({"train", "--data.train=a"});
  EXPECT_EQ(test.find("convoy train needs data.test or data.val or data.fold: "), 0u);
  EXPECT_NE(test.find("import with import.val_fraction, and give its split val as data.val."), std::string::npos)
      << test;
  EXPECT_EQ(complaint({"train", "--data.train=a", "--data.test=b"}), kNothingThrown);
  EXPECT_EQ(complaint({"train", "--data.train=a", "--data.val=b"}), kNothingThrown);
  EXPECT_EQ(complaint({"train", "--data.train=a", "--data.fold=1"}), kNothingThrown);
}

TEST(Consistency, AFoldIsOfTrainAndTakesThePlaceOfVal) {
  EXPECT_EQ(complaint({"train", "--data.train=a", "--data.val=b", "--data.fold=2"})
                .find("data.fold = 2 is measured in place of data.val = b. Leave one of them out: "),
            0u);
  EXPECT_EQ(complaint({"plan", "--data.train=a", "--plan.samples=9", "--data.fold=2"})
                .find("data.fold = 2 is a fold of data.train, but plan.samples = 9 describes data without folds. "),
            0u);
  EXPECT_EQ(complaint({"import", "--import.source=a", "--import.output=b", "--import.folds=1"})
                .find("import.folds = 1 leaves nothing to train on. Allowed: 2 to 65535, or 0 for no folds."),
            0u);
}

TEST(Needs, WhatAppliesATrainedNetworkFindsItsDataInTheCheckpoint) {
  for (const std::string command : {"evaluate", "predict"}) EXPECT_EQ(complaint({command}), kNothingThrown);
}

TEST(Consistency, TablesOfOtherMicroBatchesDoNotReadTheRunsOwn) {
  const std::vector<std::string> table = {"plan", "--plan.ranks=4", "--batch.global=8", "--batch.micro=5"};
  const auto with = [&](const std::string& key) {
    std::vector<std::string> arguments = table;
    arguments.push_back(key);
    return complaint(arguments);
  };
  EXPECT_NE(complaint(table).find("batch.micro = 5 does not divide batch.global = 8"), std::string::npos);
  EXPECT_EQ(with("--plan.micro=2,4"), kNothingThrown);
  EXPECT_EQ(with("--plan.samples_per_rank=10"), kNothingThrown);
}

TEST(Consistency, TheLargestMicroBatchIsFoundAlone) {
  EXPECT_EQ(complaint({"plan", "--plan.micro=max"}), kNothingThrown);
  EXPECT_EQ(testing::request({"plan", "--plan.micro=MAX"}).params.plan.micro, std::vector{kLargestThatFits});
  EXPECT_EQ(complaint({"plan", "--plan.micro=max, 4"}),
            "plan.micro lists max and other sizes. Give max alone, or sizes to compare with plan.ranks. (plan.micro: "
            "command line)");
  EXPECT_NE(complaint({"plan", "--plan.micro=max", "--plan.ranks=4"}).find("Leave out one of them"), std::string::npos);
}

TEST(Consistency, ASweepGivesEachSizeInOneWay) {
  EXPECT_NE(complaint({"sweep", "--data.train=a", "--sweep.global=8", "--sweep.samples_per_rank=4"})
                .find("sweep.global and sweep.samples_per_rank both say how large a step is"),
            std::string::npos);
  EXPECT_NE(complaint({"sweep", "--data.train=a", "--sweep.work=predict", "--sweep.micro=8,max"})
                .find("sweep.micro = max is for trainings"),
            std::string::npos);
}

TEST(Consistency, FramesNeedTheirSizeAndTheStandardInput) {
  const std::string size = "--predict.frames=1280X720", input = "--predict.data=-";
  const auto frames = testing::request({"predict", input, size}).params.predict.frames;
  EXPECT_EQ(frames, (FrameSize{.width = 1280, .height = 720}));
  for (const std::vector<std::string>& half : std::vector<std::vector<std::string>>{
           {"predict", input}, {"predict", size}, {"predict", size, "--predict.data=a"}}) {
    const std::string said = complaint(half);
    EXPECT_NE(said.find("predict.data = - "), std::string::npos) << said;
    EXPECT_NE(said.find("predict.frames"), std::string::npos) << said;
    EXPECT_NE(said.find("ffmpeg -i film.mp4 -f rawvideo -pix_fmt rgb24 - | convoy predict"), std::string::npos) << said;
  }
  for (const std::string wrong : {"1280", "1280x", "x720", "0x720", "1280x720x3", "16385x1"})
    EXPECT_NE(complaint({"predict", input, "--predict.frames=" + wrong}), kNothingThrown) << wrong;
}

TEST(Consistency, PrecisionsThatOnlyGpusHaveAreRefusedOnTheCpuWhateverTheCommand) {
  for (const std::string command : {"plan", "train"})
    EXPECT_NE(
        complaint({command, "--run.device=cpu", "--train.precision=fp16"}).find("train.precision = fp16 needs a GPU"),
        std::string::npos);
  EXPECT_EQ(complaint({"plan", "--train.precision=fp16"}), kNothingThrown) << "the job's machine may have one";
  EXPECT_EQ(complaint({"plan", "--run.device=cpu", "--train.precision=bf16"}), kNothingThrown);
}

TEST(Consistency, APredictionIsOfATextOrOfData) {
  EXPECT_EQ(
      complaint({"predict", "--predict.data=a", "--predict.text=What a film!"}),
      "predict.text and predict.data are both given. Give one of them. (predict.text: command line; predict.data: "
      "command line)");
}

TEST(Needs, ImportNeedsSourceAndOutput) {
  EXPECT_EQ(complaint({"import", "--import.output=b"}).find("convoy import needs import.source: "), 0u);
  EXPECT_EQ(complaint({"import", "--import.source=a"}).find("convoy import needs import.output: "), 0u);
  EXPECT_EQ(complaint({"import", "--import.source=a", "--import.output=b"}), kNothingThrown);
}

TEST(Consistency, APictureOfAPlanIsAnSvg) {
  EXPECT_EQ(complaint({"plan", "--plan.draw=step.png"}),
            "plan.draw = step.png must end in .svg, the format that is written. (plan.draw: command line)");
  EXPECT_EQ(complaint({"plan", "--plan.draw=step.svg"}), kNothingThrown);
}

TEST(Consistency, EncodedImagesHaveNoSizeOfTheImport) {
  const std::vector<std::string> import = {"import", "--import.source=a", "--import.output=b",
                                           "--import.storage=encoded"};
  EXPECT_EQ(complaint(import), kNothingThrown);
  auto sized = import;
  sized.push_back("--import.size=64");
  EXPECT_EQ(complaint(sized).find("import.size = 64 does not work with import.storage = encoded"), 0u)
      << complaint(sized);
}

TEST(Consistency, CropsToASizeNeedOne) {
  EXPECT_EQ(
      complaint({"plan", "--augment.crop=random_resized"}).find("augment.crop = random_resized needs augment.size"),
      0u);
  EXPECT_EQ(complaint({"plan", "--augment.eval_resize=256"}).find("augment.eval_resize = 256 needs augment.size"), 0u);
  EXPECT_EQ(complaint({"plan", "--augment.size=224", "--augment.eval_resize=200"})
                .find("augment.eval_resize = 200 is smaller than augment.size = 224"),
            0u);
  EXPECT_EQ(complaint({"plan", "--augment.size=32", "--augment.crop=random_resized", "--augment.crop_padding=4"})
                .find("augment.crop_padding = 4 works only with augment.crop = pad"),
            0u);
  EXPECT_EQ(complaint({"plan", "--augment.size=224", "--augment.crop=random_resized", "--augment.eval_resize=256"}),
            kNothingThrown);
}

TEST(Consistency, ABorderHasAWidth) {
  EXPECT_EQ(complaint({"plan", "--augment.border=reflect"})
                .find("augment.border = reflect needs augment.crop_padding above 0"),
            0u);
  EXPECT_EQ(complaint({"plan", "--augment.border=reflect", "--augment.crop_padding=4"}), kNothingThrown);
}

TEST(Needs, WrongKeysAreToldBeforeMissingOnes) {
  EXPECT_EQ(complaint({"train", "--batch.micro=7"}).find("batch.micro = 7 does not divide"), 0u);
}

}  // namespace
}  // namespace convoy
