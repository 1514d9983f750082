/// The command line as people type it, right and wrong.
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convoy/params/parse.h"

#include "unit/params/support.h"

namespace convoy {
namespace {

using testing::complaint;
using testing::request;

TEST(CommandLine, SetsKeysWithEqualsSignOrBlank) {
  const Parameters p = request({"plan", "--batch.global=64", "--batch.micro", "8", "--optimizer.lr", "0.05",
                                "--augment.flip=yes", "--schedule.kind=gpipe", "--data.train=a=b c"})
                           .params;
  EXPECT_EQ(p.batch.global, 64);
  EXPECT_EQ(p.batch.micro, 8);
  EXPECT_EQ(p.optimizer.lr, 0.05);
  EXPECT_TRUE(p.augment.flip);
  EXPECT_EQ(p.schedule.kind, ScheduleKind::kGpipe);
  EXPECT_EQ(p.data.train, "a=b c");
}

TEST(CommandLine, WithoutKeysGivesTheDefaultsOfTheStructs) {
  EXPECT_EQ(request({"plan"}).params, Parameters{});
}

TEST(CommandLine, TakesTheLaterOfTwo) {
  EXPECT_EQ(request({"plan", "--train.seed=1", "--train.seed=2"}).params.train.seed, 2u);
}

TEST(CommandLine, TellsWhichKeysItGives) {
  const Request given = request({"plan", "--train.seed=1"});
  EXPECT_TRUE(given.given_on_command_line("train.seed")) << "though it is the default";
  EXPECT_FALSE(given.given_on_command_line("train.epochs"));
}

TEST(CommandLine, SaysWhichOfItsKeysTheCommandDoesNotRead) {
  const auto said = [](const std::vector<std::string>& arguments) { return describe_unread_keys(request(arguments)); };
  EXPECT_EQ(said({"evaluate", "--data.test=t", "--lr.schedule=cosine"}),
            "--lr.schedule has no effect: convoy evaluate does not read it");
  EXPECT_EQ(said({"train", "--data.train=t", "--data.val=v", "--Plan.Ranks=8", "--import.size=32"}),
            "--import.size, --plan.ranks have no effect: convoy train does not read them");
  EXPECT_EQ(said({"info", "a.h5", "--run.threads=2"}), "--run.threads has no effect: convoy info does not read it");
  for (const std::string command : {"evaluate", "predict"})
    EXPECT_EQ(said({command, "--data.val=v", "--data.verify=once", "--run.threads=1", "--grid.stages=2"}), "")
        << command;
  EXPECT_EQ(said({"plan", "--plan.ranks=8", "--lr.schedule=cosine", "--run.trace=4"}), "") << "of the run it plans";
  EXPECT_EQ(said({"plan", "--export.output=a"}), "--export.output has no effect: convoy plan does not read it");
}

TEST(CommandLine, FindsTheCommandBehindKeys) {
  EXPECT_EQ(request({"--train.seed=3", "plan"}).command, "plan");
  EXPECT_EQ(request({"--train.seed", "3", "plan"}).params.train.seed, 3u);
}

TEST(CommandLine, KnowsHelpAndVersionInEveryForm) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"help"},
                                                                     {"--help"},
                                                                     {"-h"},
                                                                     {"train", "--help"},
                                                                     {"train", "-h"},
                                                                     {"train", "missing.cfg", "--help"},
                                                                     {"help", "train"}}) {
    EXPECT_EQ(request(arguments).command, "help");
  }
  EXPECT_EQ(request({"version"}).command, "version");
  EXPECT_EQ(request({"--version"}).command, "version");
}

TEST(CommandLine, GivesPathsToInfoAndCheck) {
  const Request info = request({"info", "a.h5", "runs/b.cfg"});
  EXPECT_EQ(info.command, "info");
  EXPECT_EQ(info.arguments, (std::vector<std::string>{"a.h5", "runs/b.cfg"}));
  EXPECT_EQ(request({"check", "a.h5"}).arguments, std::vector<std::string>{"a.h5"});
}

TEST(CommandLine, ANetworkToPlanTakesThePlaceOfThatInFilesAndKeysOverrideIt) {
  const std::string path = ::testing::TempDir() + "convoy-network.cfg";
  std::ofstream(path) << "[model]\nname = resnet18\nfile = other.lua\n";
  EXPECT_EQ(request({"plan", path, "my.lua"}).params.model.file, "my.lua");
  EXPECT_EQ(request({"plan", "ResNet50", path}).params.model.name, "resnet50");
  EXPECT_EQ(request({"plan", "resnet50", path}).params.model.file, "");
  EXPECT_EQ(request({"plan", "resnet50", "--model.name=resnet34"}).params.model.name, "resnet34");
  EXPECT_TRUE(request({"plan", "resnet50"}).arguments.empty());
  EXPECT_EQ(complaint({"plan", "resnet50", "my.lua"}),
            "command line: convoy plan takes one network, but resnet50 and my.lua are given.");
}

TEST(CommandLine, NamesANetworkAndItsParametersOnce) {
  EXPECT_EQ(complaint({"plan", "--model.set=depth=3", "--model.set=depth=5"}),
            "command line: model.set is given twice, as depth=3 and as depth=5. Give one list: "
            "--model.set=depth=3,depth=5");
  EXPECT_EQ(complaint({"plan", "my.lua", "--model.name=resnet34"}),
            "model.name = resnet34 and model.file = my.lua both name the network. Leave one of them out; --model.file= "
            "is none. (model.name: command line; model.file: command line)");
  EXPECT_EQ(describe_unread_network(request({"evaluate", "--model.set=depth=3"}), "a.h5"),
            "--model.set has no effect: 'a.h5' has its own network");
  EXPECT_EQ(describe_unread_network(request({"evaluate"}), "a.h5"), "");
  EXPECT_EQ(describe_unread_network(request({"info", "a.h5", "--plan.classes=7", "--plan.image_size=64"}), "a.h5"),
            "--plan.classes, --plan.image_size have no effect: 'a.h5' has its own network");
}

TEST(CommandLine, RefusesAKeyOfTheModelThatModelSetHoldsToo) {
  EXPECT_EQ(
      complaint({"plan", "transformer", "--model.set=depth=3, width=64", "--model.width=128"}),
      "command line: model.width = 128 has no effect, since model.set = depth=3, width=64 sets it, too. Give only "
      "one of the two.");
  EXPECT_EQ(request({"plan", "transformer", "--model.set=depth=3", "--model.width=128"}).params.model.set, "depth=3");
}

// Parameter files that Convoy wrote hold all keys.
TEST(CommandLine, PassesADefaultToTheFileOfANetworkIfItIsGiven) {
  const std::string path = ::testing::TempDir() + "convoy-widths.cfg";
  std::ofstream(path) << "[model]\nname = resnet50\nfile = my.lua\nwidth = 128\n";
  EXPECT_EQ(request({"plan", path, "--model.dropout=0.1"}).params.model.set, "dropout=0.1");
  EXPECT_EQ(request({"plan", path, "--model.set=a=1", "--model.width=128"}).params.model.set, "a=1, width=128");
  EXPECT_EQ(request({"plan", path, "--model.width=64", "--model.length=256"}).params.model.set, "");
  EXPECT_EQ(request({"plan", "transformer", "--model.width=128"}).params.model.set, "");
  EXPECT_EQ(warnings_for(request({"plan", path}).params),
            std::vector<std::string>{"model.name = resnet50 has no effect with model.file = my.lua"});
}

TEST(CommandLine, WarnsOfAFilesKeyThatModelSetHoldsToo) {
  const std::string path = ::testing::TempDir() + "convoy-width-and-set.cfg";
  std::ofstream(path) << "[model]\nname = transformer\nwidth = 96\nset = depth=3, width=64\n";
  EXPECT_EQ(warnings_for(request({"plan", path}).params),
            std::vector<std::string>{"model.width = 96 has no effect: model.set = depth=3, width=64 sets it, too"});
}

TEST(CommandLine, ChecksParametersWhereAFileOrOnlyKeysAreGiven) {
  EXPECT_FALSE(request({"check", "a.h5"}).is_preflight);
  EXPECT_FALSE(request({"check"}).is_preflight);
  const Request check = request({"check", "--data.train=a", "--data.test=b", "--check.hash=true"});
  EXPECT_TRUE(check.is_preflight);
  EXPECT_TRUE(check.problems.empty());
  EXPECT_TRUE(check.params.check.hash);
  EXPECT_EQ(request({"check", "missing.cfg", "--data.train=a", "--data.test=b"}).problems,
            std::vector<std::string>{"missing.cfg: there is no such parameter file."});
  EXPECT_EQ(
      complaint({"check", "a.cfg", "a.h5"}),
      "command line: convoy check takes either parameter files, or data sets and checkpoints. Check them one after "
      "the other.");
}

TEST(CommandLine, HasADryRunOfTrainAlone) {
  const Request dry = request({"train", "--data.train=a", "--data.test=b", "--dry-run"});
  EXPECT_EQ(dry.command, "train");
  EXPECT_TRUE(dry.is_preflight);
  EXPECT_FALSE(request({"train", "--data.train=a", "--data.test=b"}).is_preflight);
  EXPECT_EQ(complaint({"plan", "--dry-run"}),
            "command line: --dry-run is for convoy train. Nearest: convoy train FILE.cfg --dry-run.");
  EXPECT_EQ(complaint({"train", "--dry-run=true"}), "command line: --dry-run takes no value.");
}

TEST(CommandLine, CollectsAllProblemsOfParametersThatAreChecked) {
  const std::string path = ::testing::TempDir() + "convoy-collected.cfg";
  std::ofstream(path) << "[btch]\nglobal = 64\n[train]\nepoch = 3\nseed = x\n[optimizer]\nlr = -1\n";
  const std::vector<std::string> problems = request({"check", path, "--lr.gama=1"}).problems;
  ASSERT_EQ(problems.size(), 5u) << fmt::format("{}", fmt::join(problems, "\n"));
  EXPECT_TRUE(problems[0].starts_with(path + ":1: [btch]: there is no such section.")) << problems[0];
  EXPECT_TRUE(problems[1].starts_with(path + ":4: train.epoch = 3: there is no such key.")) << problems[1];
  EXPECT_TRUE(problems[2].starts_with(path + ":5: train.seed = x")) << problems[2];
  EXPECT_TRUE(problems[3].starts_with(path + ":7: optimizer.lr = -1")) << problems[3];
  EXPECT_TRUE(problems[4].starts_with("command line: lr.gama = 1: there is no such key.")) << problems[4];
  EXPECT_EQ(complaint({"train", path}), problems[0]) << "a training is refused for the first of them";
}

TEST(CommandLine, CollectsWhatKeysContradictTogether) {
  const std::vector<std::string> problems =
      request({"check", "--batch.micro=7", "--optimizer.nesterov=true", "--optimizer.momentum=0"}).problems;
  ASSERT_EQ(problems.size(), 4u) << fmt::format("{}", fmt::join(problems, "\n"));
  EXPECT_TRUE(problems[0].starts_with("batch.micro = 7 does not divide batch.global = 128.")) << problems[0];
  EXPECT_TRUE(problems[1].starts_with("optimizer.nesterov = true needs")) << problems[1];
  EXPECT_TRUE(problems[2].starts_with("convoy check needs data.train:")) << problems[2];
  EXPECT_TRUE(problems[3].starts_with("convoy check needs data.test or data.val or data.fold:")) << problems[3];
}

TEST(CommandLine, RefusesUnknownCommands) {
  const std::string known =
      " Commands: train, evaluate, predict, import, export, plan, sweep, replay, watch, compare, join, info, check, "
      "help, "
      "version. More: convoy --help.";
  EXPECT_EQ(complaint({}), "command line: no command." + known);
  EXPECT_EQ(complaint({"trian"}), "command line: trian is not a command. Nearest: train." + known);
  EXPECT_EQ(complaint({"xyzzy"}), "command line: xyzzy is not a command." + known);
  EXPECT_EQ(complaint({"a.cfg"}), "command line: no command before a.cfg. Nearest: convoy train a.cfg." + known);
}

TEST(CommandLine, RefusesUnknownKeysWithTheNearest) {
  EXPECT_EQ(complaint({"train", "--batch.globl=64"}),
            "command line: batch.globl = 64: there is no such key. Nearest: batch.global. Keys of [batch]: global, "
            "micro. All keys: convoy --help.");
  EXPECT_EQ(complaint({"train", "--btch.global", "64"}).substr(0, 75),
            "command line: btch.global: there is no such key. Nearest: batch.global. All");
  EXPECT_NE(complaint({"train", "--epochs=3"}).find("Nearest: train.epochs."), std::string::npos);
  EXPECT_NE(complaint({"train", "--lr=3"}).find("Nearest: optimizer.lr."), std::string::npos);
  EXPECT_NE(complaint({"train", "--train.lr=3"}).find("Nearest: optimizer.lr."), std::string::npos);
  EXPECT_NE(complaint({"train", "--foo.bar=3"}).find("Sections: model, data,"), std::string::npos);
  EXPECT_NE(complaint({"train", "--batch.globl="}).find("Nearest: batch.global."), std::string::npos);
}

TEST(CommandLine, NamesTheKeyBehindShortenedSectionsAndLeaves) {
  const auto suggested = [](const std::string& key) {
    const std::string said = complaint({"train", "--" + key + "=3"});
    const std::string mark = " Nearest: ";
    const std::size_t begin = said.find(mark);
    return begin == std::string::npos ? said
                                      : said.substr(begin + mark.size(), said.find(". ", begin) - begin - mark.size());
  };
  EXPECT_EQ(suggested("optim.lr"), "optimizer.lr");
  EXPECT_EQ(suggested("opt.kind"), "optimizer.kind");  // schedule.kind comes first in the table
  EXPECT_EQ(suggested("sched.kind"), "schedule.kind");
  EXPECT_EQ(suggested("optim.weight"), "optimizer.weight_decay");
  EXPECT_EQ(suggested("pred.out"), "predict.output");
  EXPECT_EQ(suggested("aug.crop_pad"), "augment.crop_padding");
  EXPECT_EQ(suggested("train.clip"), "train.clip_norm");
  EXPECT_EQ(suggested("warmup"), "lr.warmup_epochs");
  EXPECT_EQ(suggested("epoch"), "train.epochs");
  EXPECT_EQ(suggested("cut"), "grid.cuts");
  EXPECT_EQ(suggested("grid.stage"), "grid.stages") << "and not data.stage";
  EXPECT_EQ(suggested("optimizer.learning_rate"), "optimizer.lr");
  EXPECT_EQ(suggested("learning_rate"), "optimizer.lr");
  EXPECT_EQ(suggested("train.wd"), "optimizer.weight_decay");
  EXPECT_NE(suggested("rate").find("Sections: "), std::string::npos) << "two letters from name, and not meant";
}

TEST(CommandLine, RefusesAbbreviatedKeys) {
  EXPECT_NE(complaint({"train", "--batch.glob=64"}).find("there is no such key"), std::string::npos);
}

TEST(CommandLine, RefusesKeysWithoutAValue) {
  const std::string expected =
      "command line: --batch.global has no value. Allowed: 1 to 16777216. As in: --batch.global=128";
  EXPECT_EQ(complaint({"train", "--batch.global"}), expected);
  EXPECT_EQ(complaint({"train", "--batch.global="}), expected);
  EXPECT_EQ(complaint({"train", "--batch.global", "--batch.micro=3"}), expected);
}

TEST(CommandLine, EmptiesKeysThatMayBeEmpty) {
  const Parameters p =
      request({"plan", "--train.freeze=bn1.*", "--train.freeze=", "--plan.ranks=2",
               "--plan.ranks=", "--lr.step_epochs=3", "--lr.step_epochs", "", "--data.test=a", "--data.test="})
          .params;
  EXPECT_TRUE(p.train.freeze.empty());
  EXPECT_TRUE(p.plan.ranks.empty());
  EXPECT_TRUE(p.lr.step_epochs.empty());
  EXPECT_EQ(p.data.test, "");
  for (const std::string key : {"model.name", "run.directory", "grid.cuts", "optimizer.kind"})
    EXPECT_EQ(complaint({"plan", "--" + key + "="}).find("command line: --" + key + " has no value. Allowed: "), 0u);
}

TEST(CommandLine, RefusesArgumentsThatAreNoParameterFiles) {
  EXPECT_EQ(complaint({"train", "foo"}),
            "command line: foo: there is no such folder. convoy train takes the directory of a run, parameter "
            "files (*.cfg, *.ini), and keys as --section.key=value. More: convoy train --help.");
  EXPECT_EQ(complaint({"import", "foo"}),
            "command line: foo: convoy import takes parameter files (*.cfg, *.ini), and keys as --section.key=value. "
            "More: convoy import --help.");
  EXPECT_EQ(complaint({"train", "batch.global=64"}),
            "command line: batch.global=64: a key must begin with two dashes. Nearest: --batch.global=64.");
  EXPECT_EQ(complaint({"train", "-batch.global=64"}),
            "command line: -batch.global=64: a key must begin with two dashes. Nearest: --batch.global=64.");
  EXPECT_NE(complaint({"train", "-x"}), test::kNothingThrown);
  EXPECT_NE(complaint({"info", "-x"}), test::kNothingThrown);
  EXPECT_NE(complaint({"version", "x"}), test::kNothingThrown);
  EXPECT_NE(complaint({"train", ""}), test::kNothingThrown);
}

TEST(CommandLine, TakesANegativeNumberForAValue) {
  EXPECT_EQ(complaint({"train", "--optimizer.lr", "-1"}),
            "command line: optimizer.lr = -1 is out of range. Allowed: 0 to 1000.");
}

TEST(CommandLine, RefusesValuesForHelp) {
  EXPECT_EQ(complaint({"--help=all"}), "command line: --help takes no value.");
  EXPECT_EQ(complaint({"--help="}), "command line: --help takes no value.");
  EXPECT_EQ(complaint({"help", "--markdown=lr"}), "command line: --markdown takes no value.");
}

TEST(CommandLine, KnowsMarkdownOfTheWholeHelpAlone) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"help", "--markdown"}, {"--markdown", "help"}, {"--help", "--markdown"}}) {
    EXPECT_EQ(request(arguments).command, "help");
    EXPECT_TRUE(request(arguments).as_markdown);
  }
  EXPECT_FALSE(request({"help"}).as_markdown);
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--markdown"}, {"help", "lr", "--markdown"}, {"train", "--markdown"}, {"train", "--help", "--markdown"}})
    EXPECT_EQ(complaint(arguments),
              "command line: --markdown is only for the whole page of help: convoy help --markdown.");
}

}  // namespace
}  // namespace convoy
