/// Parameter files: their contents, the position that each message names, and that any text is read or refused.
#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "unit/io/temporary_directory.h"
#include "unit/params/support.h"

namespace convoy {
namespace {

using testing::complaint;
using testing::file_complaint;
using testing::request;

/// A folder for the files of one test.
class Files : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  test::TemporaryDirectory folder_;
};

TEST_F(Files, HoldSectionsCommentsAndBlanks) {
  const std::string path = write("a.cfg",
                                 "# an experiment\n"
                                 "[batch]   # cut\n"
                                 "  global = 64   # samples per step, over all replicas\n"
                                 "micro=8\t#no blanks\n"
                                 "\n"
                                 "[data]\n"
                                 "train = data/with blank/train   # a prefix\n"
                                 "[batch]\n"
                                 "[lr]\r\n"
                                 "schedule = multistep\r\n"
                                 "step_epochs = 30, 60.5,90");
  const Parameters p = request({"plan", path}).params;
  EXPECT_EQ(p.batch.global, 64);
  EXPECT_EQ(p.batch.micro, 8);
  EXPECT_EQ(p.data.train, "data/with blank/train");
  EXPECT_EQ(p.lr.schedule, LearningRateKind::kMultistep);
  EXPECT_EQ(p.lr.step_epochs, (std::vector<double>{30, 60.5, 90}));
}

TEST_F(Files, LaterOnesOverrideEarlierAndTheCommandLineAll) {
  const std::string a = write("a.cfg", "[batch]\nglobal = 64\nmicro = 8\n[train]\nseed = 1\n");
  const std::string b = write("b.ini", "[batch]\nglobal = 32\n");
  const Parameters p = request({"plan", "--train.seed=9", a, b}).params;
  EXPECT_EQ(p.batch.global, 32);
  EXPECT_EQ(p.batch.micro, 8);
  EXPECT_EQ(p.train.seed, 9u);
}

TEST_F(Files, AreNamedWhereAPathBeginsWithATilde) {
  const std::string a = write("a.cfg", "[data]\ntrain = ~/data/train\n");
  EXPECT_EQ(complaint({"plan", a}).find(a + ":2: data.train = ~/data/train begins with '~', "), 0u);
  EXPECT_EQ(request({"plan", a, "--data.train=/data/train"}).params.data.train, "/data/train");
}

TEST_F(Files, OfEarlierVersionsHaveFormerNamesOfKeys) {
  const std::string a = write("a.cfg", "[run]\nplans = runs/a/plans.txt\n");
  EXPECT_EQ(request({"plan", a}).params.run.engines, "runs/a/plans.txt");
  EXPECT_EQ(request({"plan", a}).renamed.size(), 1u);
  EXPECT_EQ(request({"plan", a}).renamed.front().find(a + ":2: run.plans is now called run.engines: "), 0u);
  EXPECT_EQ(request({"plan", a, "--run.engines=b"}).params.run.engines, "b");
  EXPECT_TRUE(request({"plan", write("record.cfg", "[run]\nplans =   # an old run's params.cfg has all keys\n")})
                  .renamed.empty());
  EXPECT_EQ(
      complaint({"plan", write("both.cfg", "[run]\nplans = a\nengines = b\n")}),
      path("both.cfg") + ":3: run.engines = b: the key is given twice, first at " + path("both.cfg") + ":2. Keep one.");
}

TEST_F(Files, MayBeEmpty) {
  EXPECT_EQ(request({"plan", write("a.cfg", "")}).params, Parameters{});
}

TEST_F(Files, ThatAreMissingAreNamedWithTheNearest) {
  write("fashion.cfg", "");
  EXPECT_EQ(complaint({"train", path("fashon.cfg")}),
            path("fashon.cfg") + ": there is no such parameter file. Nearest: fashion.cfg.");
  EXPECT_EQ(complaint({"train", path("no/fashion.cfg")}),
            path("no/fashion.cfg") + ": there is no such parameter file.");
}

TEST_F(Files, ThatCannotBeFollowedAreRefused) {
  std::filesystem::create_symlink("loop.cfg", path("loop.cfg"));
  EXPECT_EQ(complaint({"train", path("loop.cfg")}), path("loop.cfg") + ": its symbolic links lead in a circle.");
  EXPECT_NE(complaint({"train", std::string(300, 'a') + ".cfg"}).find("aaa...: the path is too long: "),
            std::string::npos);
}

TEST_F(Files, ThatAreFoldersAreRefused) {
  std::filesystem::create_directory(path("runs.cfg"));
  EXPECT_EQ(complaint({"import", path("runs.cfg")}),
            path("runs.cfg") + ": a folder, but a parameter file is expected (*.cfg, *.ini).");
}

// Writes the parameter file of a run in folder/NAME, which names another directory: the run was moved.
class RunDirectories : public Files {
 protected:
  std::string make_run(const std::string& name) const {
    std::filesystem::create_directories(path(name));
    write(name + "/starts.csv", "");
    write(name + "/params.cfg",
          "[run]\ndirectory = elsewhere\n[train]\nseed = 7\n[data]\ntrain = a\ntest = b\n[export]\noutput = e\n"
          "[replay]\nsteps = 1-2\n");
    return path(name);
  }
};

TEST_F(RunDirectories, StandForTheirFileAndTheirPathBelowTheCommandLine) {
  const std::string run = make_run("run");
  for (const std::string command : {"train", "evaluate", "predict", "export", "plan", "replay", "check"})
    for (const std::string& given : {run, run + "/"}) {
      const Request asked = request({command, given, "--train.epochs=3"});
      EXPECT_EQ(asked.params.run.directory, run) << command;
      EXPECT_EQ(asked.params.train.seed, 7u) << command;
      EXPECT_EQ(asked.params.train.epochs, 3) << command;
      EXPECT_FALSE(asked.given_on_command_line("run.directory")) << command;
      EXPECT_TRUE(asked.problems.empty()) << command;
      EXPECT_TRUE(asked.arguments.empty()) << command;
    }
  EXPECT_TRUE(request({"check", run}).is_preflight);
  EXPECT_EQ(request({"train", run, "--train.seed=9"}).params.train.seed, 9u);
  EXPECT_EQ(request({"train", run, write("more.cfg", "[train]\nseed = 8\n")}).params.train.seed, 8u);
  EXPECT_EQ(request({"train", run, "--run.directory=" + run + "/."}).params.run.directory, run + "/.");
}

TEST_F(RunDirectories, AreRefusedWithoutAFileAndNextToAnother) {
  const std::string run = make_run("run"), other = make_run("other"), empty = path("empty");
  std::filesystem::create_directories(empty);
  EXPECT_EQ(complaint({"evaluate", empty}),
            "command line: " + empty +
                " is not the directory of a run: it has no params.cfg. Give the run.directory of a training, or a "
                "parameter file.");
  EXPECT_EQ(complaint({"train", run, other}),
            "command line: convoy train takes one run directory, but " + run + " and " + other + " are given.");
  const std::string conflict = "command line: " + run + " is the directory of a run, and --run.directory=" + other +
                               " is another one. Leave out one of them. To use only the parameters of " + run +
                               ": convoy train " + run + "/params.cfg --run.directory=" + other + ".";
  EXPECT_EQ(complaint({"train", run, "--run.directory=" + other}), conflict);
  EXPECT_EQ(request({"train", run, "--run.directory=" + other, "--dry-run"}).problems,
            std::vector<std::string>{conflict});
  EXPECT_NE(complaint({"import", run}), test::kNothingThrown) << "an import has no run";
  EXPECT_NE(complaint({"sweep", run}), test::kNothingThrown) << "its table would lie in the run";
}

// A word is the name of a network, and a folder of shards is verified, as before.
TEST_F(RunDirectories, LeaveOtherMeaningsOfFolders) {
  const auto before = std::filesystem::current_path();
  make_run("resnet50");
  std::filesystem::create_directories(path("data"));
  std::filesystem::current_path(path(""));
  const Request network = request({"plan", "resnet50"}), run = request({"plan", "./resnet50"});
  const Request data = request({"check", "data"});
  std::filesystem::current_path(before);
  EXPECT_EQ(network.params.model.name, "resnet50");
  EXPECT_EQ(network.params.train.seed, Parameters{}.train.seed);
  EXPECT_EQ(run.params.run.directory, "./resnet50");
  EXPECT_FALSE(data.is_preflight);
  EXPECT_EQ(data.arguments, std::vector<std::string>{"data"});
}

TEST_F(Files, ThatAreNoTextAreRefused) {
  EXPECT_EQ(complaint({"train", write("a.cfg", std::string("[batch]\n\0\0", 10))}),
            path("a.cfg") + ": this is not a text file, but a parameter file is expected.");
}

TEST(FileText, NamesTheLineOfAWrongValue) {
  EXPECT_EQ(file_complaint("# first\n\n[batch]\nglobal = 12x   # samples\n"),
            "a.cfg:4: batch.global = 12x is not an integer. Allowed: 1 to 16777216 samples.");
  EXPECT_EQ(file_complaint("[batch]\nglobal =\n"),
            "a.cfg:2: batch.global = (nothing) is not an integer. Allowed: 1 to 16777216 samples.");
  EXPECT_EQ(file_complaint("[run]\ndirectory =\n"), "a.cfg:2: run.directory = (nothing) is empty. Allowed: a path.");
}

TEST(FileText, OfAnOldCheckpointHasFormerNamesOfKeys) {
  Parameters params;
  params.run.engines = "runs/a/plans.txt";
  std::string text = render(params);
  const std::size_t key = text.find("\nengines = ");
  ASSERT_NE(key, std::string::npos);
  text.replace(key, std::string("\nengines").size(), "\nplans");
  EXPECT_EQ(parse_parameters(text, "a.h5").run.engines, "runs/a/plans.txt");
}

TEST(FileText, HasCommentsAtALinesBeginAndAfterABlank) {
  const Parameters p = parse_parameters(
      "; an experiment\n"
      "  # of two comments\n"
      "[run]   ; where\n"
      "directory = runs/a#b   # a name with a mark\n"
      "[data]\n"
      "train = data/x;y\n"
      "test =\t#data/z\n",
      "a.cfg");
  EXPECT_EQ(p.run.directory, "runs/a#b");
  EXPECT_EQ(p.data.train, "data/x;y");
  EXPECT_EQ(p.data.test, "");
  EXPECT_EQ(file_complaint("[batch]\nmicro = 8#no blank\n"),
            "a.cfg:2: batch.micro = 8#no blank is not an integer. Allowed: 1 to 16777216 samples. In a parameter file, "
            "a comment needs a space before its # or ;.");
  EXPECT_EQ(file_complaint("[batch]\nmicro # = 8\n").find("a.cfg:2: micro: neither [section] nor key = value."), 0u);
}

TEST(FileText, KeepsAllThatQuotesHold) {
  const auto directory = [](const std::string& value) {
    return parse_parameters("[run]\ndirectory = " + value + "\n", "a.cfg").run.directory;
  };
  EXPECT_EQ(directory("\"runs/a b\""), "runs/a b");
  EXPECT_EQ(directory("'runs/a b'   # said"), "runs/a b");
  EXPECT_EQ(directory("\" runs/a # b; c \"# said"), " runs/a # b; c ");
  EXPECT_EQ(directory("'it''s \"here\"'"), "it's \"here\"");
  EXPECT_EQ(directory("runs/it's"), "runs/it's");
  EXPECT_EQ(parse_parameters("[batch]\nglobal = \"64\"\n[lr]\nschedule='Cosine'\n", "a.cfg").batch.global, 64);
  EXPECT_EQ(file_complaint("[run]\ndirectory = \"runs/a\n"),
            "a.cfg:2: directory = \"runs/a: the value begins with \" and has no \" at its end.");
  EXPECT_EQ(file_complaint("[train]\nfreeze = 'a.*', 'b.*'\n"),
            "a.cfg:2: freeze = 'a.*', 'b.*': , 'b.*' follows the quoted value. Quote the whole value, or none of it.");
}

TEST(FileText, HasSectionsAndKeysInAnyCase) {
  const Parameters p = parse_parameters("Batch.Global = 64\n[Train]\nSeed = 3\n[MODEL]\nname = ResNet50\n", "a.cfg");
  EXPECT_EQ(p.batch.global, 64);
  EXPECT_EQ(p.train.seed, 3u);
  EXPECT_EQ(p.model.name, "resnet50");
  EXPECT_EQ(file_complaint("[train]\nseed = 1\nSeed = 2\n"),
            "a.cfg:3: train.seed = 2: the key is given twice, first at a.cfg:2. Keep one.");
}

TEST(FileText, NamesUnknownKeysAndSections) {
  EXPECT_EQ(
      file_complaint("[batch]\nglobl = 64\n"),
      "a.cfg:2: batch.globl = 64: there is no such key. Nearest: batch.global. Keys of [batch]: global, micro. All "
      "keys: convoy --help.");
  EXPECT_EQ(file_complaint("\n[btch]\nglobal = 64\n"),
            "a.cfg:2: [btch]: there is no such section. Nearest: batch. Sections: model, data, batch, grid, schedule, "
            "memory, optimizer, lr, train, augment, checkpoint, evaluate, predict, init, run, check, info, plan, "
            "replay, watch, sweep, import, export.");
  EXPECT_NE(file_complaint("[train]\nlr = 0.1\n").find("Nearest: optimizer.lr."), std::string::npos);
  EXPECT_NE(file_complaint("epochs = 3\n").find("a.cfg:1: epochs = 3: there is no such key. Nearest: train.epochs."),
            std::string::npos);
  EXPECT_NE(file_complaint("[]\n").find("a.cfg:1: []: there is no such section."), std::string::npos);
}

TEST(FileText, NamesLinesThatAreNoAssignment) {
  EXPECT_EQ(file_complaint("[batch]\nglobal 64\n"),
            "a.cfg:2: global 64: neither [section] nor key = value. Nearest: global = 64. Comments begin with # or ;.");
  EXPECT_EQ(
      file_complaint("[batch]\nglobal: 64\n"),
      "a.cfg:2: global: 64: neither [section] nor key = value. Nearest: global = 64. Comments begin with # or ;.");
  EXPECT_EQ(file_complaint("hello\n"),
            "a.cfg:1: hello: neither [section] nor key = value. Comments begin with # or ;.");
  EXPECT_EQ(file_complaint("[batch\n"), "a.cfg:1: [batch: the section has no ']'. Nearest: batch.");
  EXPECT_NE(file_complaint("[batch]\n = 64\n").find("a.cfg:2: batch. = 64: there is no such key."), std::string::npos);
}

TEST(FileText, RefusesAKeyGivenTwice) {
  EXPECT_EQ(file_complaint("[batch]\nglobal = 64\n[train]\nseed = 1\n[batch]\nglobal = 64\n"),
            "a.cfg:6: batch.global = 64: the key is given twice, first at a.cfg:2. Keep one.");
}

TEST(FileText, TakesFullNamesOutsideOfSections) {
  EXPECT_EQ(parse_parameters("batch.global = 64\n", "a.cfg").batch.global, 64);
}

TEST(FileText, MayBeginWithAByteOrderMark) {
  EXPECT_EQ(parse_parameters("\xEF\xBB\xBF[batch]\nglobal = 64\n", "a.cfg").batch.global, 64);
}

TEST(FileText, NeverDoesAnythingButReadOrRefuse) {
  const std::string good = render(Parameters{});
  const std::string bytes = "[]=#.,\n\r\t \"'-+x0129naife\xff";
  std::mt19937 engine(1);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(engine() % bound); };
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string text = good.substr(0, good.size() - below(good.size()) * (round % 2));
    for (std::size_t i = 0; i < 8 && !text.empty(); ++i) text[below(text.size())] = bytes[below(bytes.size())];
    if (test::message_of<RequestError>([&] { parse_parameters(text, "a.cfg"); }) != test::kNothingThrown) ++refused;
  }
  EXPECT_GT(refused, 100);  // another exception, or a crash, fails the test; most changes are in comments
  EXPECT_LT(refused, 1000);
}

TEST(ShippedFiles, AreAllRight) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(CONVOY_INPUT_DIRECTORY)) {
    const std::string path = file.path().string();
    if (!path.ends_with(".cfg")) continue;
    const char* arguments[] = {"convoy", "train", path.c_str()};
    EXPECT_NO_THROW(parse_command_line(3, arguments)) << path;
    ++count;
  }
  EXPECT_GE(count, 2);
}

}  // namespace
}  // namespace convoy
