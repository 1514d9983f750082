/// Every key: its type refuses wrong values, and the message names key, value, place and what is allowed.
#include "params/key_table.h"

#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "convoy/base/text.h"

#include "unit/params/support.h"

namespace convoy {
namespace {

using params::Key;
using testing::complaint;
using testing::request;

std::string set(const std::string& key, const std::string& value) {
  return complaint({"plan", "--" + key + "=" + value});
}

TEST(KeyTable, HasEachKeyOnceInOneRunOfItsSection) {
  std::set<std::string> names;
  for (const Key& key : params::keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_EQ(key.name, key.section() + "." + key.leaf());
  }
  for (const Key& key : params::keys()) {
    if (key.former_name.empty()) continue;
    EXPECT_TRUE(names.insert(key.former_name).second) << key.former_name;
  }
  const std::set<std::string> once(params::sections().begin(), params::sections().end());
  EXPECT_EQ(once.size(), params::sections().size());
}

TEST(KeyTable, TakesEveryDefaultBackAndSaysWhatItIs) {
  for (const Key& key : params::keys()) {
    SCOPED_TRACE(key.name);
    EXPECT_FALSE(key.sentence.empty());
    EXPECT_FALSE(key.value.type.empty());
    EXPECT_FALSE(key.value.allowed.empty());
    Parameters read;
    key.value.read({.key = key.name, .value = key.default_text(), .where = "test", .unit = key.unit}, read);
    EXPECT_EQ(read, Parameters{});
  }
}

TEST(KeyTable, SetsTheFieldItIsNamedAfter) {
  // A key set to another value than its default changes something, and no two keys change the same.
  std::set<std::string> changed;
  for (const Key& key : params::keys()) {
    SCOPED_TRACE(key.name);
    Parameters read;
    const std::string type = key.value.type;
    std::string value = type.starts_with("text") ? "some/path"
                        : type == "flag"         ? (key.default_text() == "true" ? "off" : "on")
                                                 : "";
    if (type == "integer" || type == "integers" || type == "arrays") value = "17";
    if (type == "number" || type == "numbers") value = "0.625";
    if (type == "steps") value = "3-17";
    if (type == "limit") value = "7 %";
    if (type == "size") value = "17x9";
    if (type == "weights") value = "balanced";
    if (type == "choice") value = key.value.allowed.substr(key.value.allowed.rfind(' ') + 1);
    key.value.read({.key = key.name, .value = value, .where = "test", .unit = ""}, read);
    if (value == key.default_text()) continue;  // the only choice, or the default is the last
    EXPECT_NE(read, Parameters{});
    EXPECT_TRUE(changed.insert(render(read)).second);
  }
  EXPECT_GT(changed.size(), params::keys().size() - 5);
}

TEST(KeyTable, RefusesGarbageForEveryTypeButText) {
  for (const Key& key : params::keys()) {
    if (key.value.type.starts_with("text")) continue;
    for (const std::string value :
         {"12x", "x", "-1", "nan", "-inf", "1e999", "99999999999999999999", "0x10", "1 2", "+", "1,,2", ","}) {
      if (key.value.type == "flag" && (value == "1" || value == "0")) continue;
      const std::string said = set(key.name, value);
      EXPECT_EQ(said.find("command line: " + key.name + " = " + value + " is "), 0u) << said;
      EXPECT_NE(said.find("Allowed: "), std::string::npos) << said;
    }
  }
}

TEST(KeyTable, TakesAllTextOfOneLine) {
  for (const Key& key : params::keys()) {
    if (!key.value.type.starts_with("text")) continue;
    EXPECT_EQ(set(key.name, "a/b#c.svg"), test::kNothingThrown) << key.name;
    EXPECT_NE(set(key.name, "a/b\nc").find(key.name + " = a/b?c has a control character"), std::string::npos);
  }
}

TEST(KeyTable, TakesListsOfTexts) {
  EXPECT_EQ(request({"plan", "--train.freeze=layer1.*,bn1.* ,fc.bias"}).params.train.freeze,
            (std::vector<std::string>{"layer1.*", "bn1.*", "fc.bias"}));
  EXPECT_TRUE(request({"plan"}).params.train.freeze.empty());
  EXPECT_NE(set("train.freeze", "a,,b").find("train.freeze = a,,b has an empty item next to a comma. Allowed: "),
            std::string::npos);
}

TEST(KeyTable, TakesGroupsOfNamesWithFactors) {
  EXPECT_EQ(request({"plan", "--optimizer.groups=layer1.*: 0.1 ,fc.*:10"}).params.optimizer.groups,
            (std::vector<RateGroup>{{"layer1.*", 0.1}, {"fc.*", 10}}));
  EXPECT_TRUE(request({"plan"}).params.optimizer.groups.empty());
  EXPECT_NE(set("optimizer.groups", "fc.*").find("fc.* is not a list of PATTERN: FACTOR"), std::string::npos);
  EXPECT_NE(set("optimizer.groups", "fc.*: 0").find("is out of range"), std::string::npos);
  EXPECT_NE(set("optimizer.groups", "a: 1,,b: 2").find("is not a list"), std::string::npos);
}

TEST(KeyTable, TakesFormsOfOneArrayOrOfSeveralWithNames) {
  const auto forms = [](const std::string& text) {
    const Parameters params = request({"plan", "--plan.values=" + text}).params;
    return std::pair{params.plan.values, shown_value("plan.values", params)};
  };
  const std::vector<ArrayForm> only = {{.name = "", .extents = {64, 64, 7}}};
  const std::vector<ArrayForm> named = {{.name = "image", .extents = {64, 64, 7}},
                                        {.name = "position", .extents = {3}}};
  for (const std::string text : {"64,64,7", "64, 64, 7", "64 x 64 x 7", "64x64x7"})
    EXPECT_EQ(forms(text), std::pair(only, std::string("64, 64, 7"))) << text;
  for (const std::string text : {"image: 64 x 64 x 7, position: 3", "image:64x64x7,position:3"})
    EXPECT_EQ(forms(text), std::pair(named, std::string("image: 64 x 64 x 7, position: 3"))) << text;
  EXPECT_TRUE(forms("").first.empty());
  const auto expect = [](const std::string& text, const std::string& complaint) {
    const std::string said = set("plan.values", text);
    EXPECT_EQ(said.find("command line: plan.values = " + complaint +
                        ". Allowed: a, b, ..., or with names: NAME: a x b x ..., NAME: ..., each 1 to 16777216 values"),
              0U)
        << said;
  };
  expect("image: 64, 64, 7", "64 has no name");
  expect("image: 64 x 64, : 3", ": 3 has no name");
  expect("image: 64 x y, position: 3", "image: 64 x y is not an integer");
  expect("image: 64, position:", "position: is not an integer");
  expect("64 x 64, 7", "64 x 64, 7 is not an integer");
  expect("position: 0", "position: 0 is out of range");
}

TEST(KeyTable, TakesSharesAndNumbersOfSamples) {
  const auto limit = [](const std::string& text) {
    return request({"plan", "--data.limit=" + text}).params.data.limit;
  };
  for (const std::string text : {"10 %", "10%", " 10.0 %"})
    EXPECT_EQ(limit(text), (SampleLimit{.percent = 10})) << text;
  EXPECT_EQ(limit("0.5 %").percent, 0.5);
  EXPECT_EQ(limit("5000"), (SampleLimit{.count = 5000}));
  EXPECT_EQ(limit(""), SampleLimit{});
  const std::string allowed = " Allowed: 1 to 1125899906842624, or a share up to 100 %, as in 10 %.";
  EXPECT_EQ(set("data.limit", "0.1"), "command line: data.limit = 0.1 is not an integer." + allowed);
  EXPECT_EQ(set("data.limit", "0"), "command line: data.limit = 0 is out of range." + allowed);
  EXPECT_EQ(set("data.limit", "0 %"), "command line: data.limit = 0 % is out of range." + allowed);
  EXPECT_EQ(set("data.limit", "101 %"), "command line: data.limit = 101 % is out of range." + allowed);
  EXPECT_EQ(set("data.limit", "%"), "command line: data.limit = % is not a number." + allowed);
}

TEST(KeyTable, TakesListsOfIntegers) {
  EXPECT_EQ(request({"plan", "--plan.ranks=8, 16,64"}).params.plan.ranks, (std::vector<std::int64_t>{8, 16, 64}));
  EXPECT_EQ(request({"plan", "--grid.cuts=3,7"}).params.grid.cuts, (std::vector<std::int64_t>{3, 7}));
  EXPECT_TRUE(request({"plan", "--grid.cuts=3", "--grid.cuts=auto"}).params.grid.cuts.empty());
  EXPECT_EQ(request({"plan", "--grid.stages=auto"}).params.grid.stages, 0);
  EXPECT_EQ(set("grid.cuts", "3,x"),
            "command line: grid.cuts = 3,x is not an integer. Allowed: auto; a, b, ..., each 1 to 4096 cells.");
  EXPECT_EQ(set("plan.ranks", "8,0"),
            "command line: plan.ranks = 8,0 is out of range. Allowed: a, b, ..., each 1 to 1000000 ranks.");
}

TEST(KeyTable, NamesTypeRangeAndUnit) {
  EXPECT_EQ(set("batch.global", "12x"),
            "command line: batch.global = 12x is not an integer. Allowed: 1 to 16777216 samples.");
  EXPECT_EQ(set("batch.global", "1e3"),
            "command line: batch.global = 1e3 is not an integer. Allowed: 1 to 16777216 samples.");
  EXPECT_EQ(set("batch.global", "0"),
            "command line: batch.global = 0 is out of range. Allowed: 1 to 16777216 samples.");
  EXPECT_EQ(set("grid.stages", "99999999999999999999"),
            "command line: grid.stages = 99999999999999999999 is out of range. Allowed: auto, 1 to 4096 ranks.");
  EXPECT_EQ(set("optimizer.momentum", "1"),
            "command line: optimizer.momentum = 1 is out of range. Allowed: 0 to below 1.");
  EXPECT_EQ(set("train.epochs", "0"),
            "command line: train.epochs = 0 is out of range. Allowed: above 0, up to 1000000 epochs.");
  EXPECT_EQ(set("train.seed", "-1"),
            "command line: train.seed = -1 is out of range. Allowed: 0 to 18446744073709551615.");
}

TEST(KeyTable, NamesTheNearestChoice) {
  const std::string nearest = set("schedule.kind", "gpip");
  EXPECT_EQ(nearest.find("command line: schedule.kind = gpip is not one of its choices. Allowed: auto, naive, gpipe, "),
            0u)
      << nearest;
  EXPECT_TRUE(nearest.ends_with(". Nearest: gpipe.")) << nearest;
  EXPECT_EQ(set("lr.schedule", "cosin"),
            "command line: lr.schedule = cosin is not one of its choices. Allowed: constant, step, multistep, cosine, "
            "polynomial, onecycle, inverse_sqrt. Nearest: cosine.");
  EXPECT_NE(set("lr.schedule", "cos").find("Nearest: cosine."), std::string::npos);
  EXPECT_EQ(set("checkpoint.resume", "aut"),
            "command line: checkpoint.resume = aut is neither a choice nor a path. Allowed: auto, best, none, or a "
            "checkpoint's path with a '/' or a '.'. Nearest: auto.");
  EXPECT_EQ(
      set("import.format", "sql"),
      "command line: import.format = sql is not one of its choices. Allowed: auto, folder, cifar, idx, text, csv, "
      "arrays, table.");
}

TEST(KeyTable, NamesTheChoiceThatASynonymMeans) {
  const auto suggested = [](const std::string& key, const std::string& value) {
    const std::string said = set(key, value), mark = " Nearest: ";
    const std::size_t begin = said.find(mark);
    return begin == std::string::npos ? said : said.substr(begin + mark.size());
  };
  EXPECT_EQ(suggested("run.device", "gpu"), "cuda.");
  EXPECT_EQ(suggested("run.device", "GPUs"), "cuda.");
  EXPECT_EQ(suggested("run.device", "nvidia"), "cuda.");
  EXPECT_EQ(suggested("run.device", "cp"), "cpu.");
  EXPECT_EQ(suggested("train.precision", "float32"), "f32.");
  EXPECT_EQ(suggested("train.precision", "fp32"), "f32.");
  EXPECT_EQ(suggested("train.precision", "bfloat16"), "bf16.");
  EXPECT_EQ(suggested("train.precision", "half"), "fp16.");
  EXPECT_EQ(suggested("train.precision", "float16"), "fp16.");
  EXPECT_EQ(suggested("import.format", "mnist"), "idx.");
  EXPECT_EQ(suggested("import.channels", "RGB"), "3.");
}

TEST(KeyTable, SynonymsAreNoWordsAndStandForOneChoice) {
  const auto check = [](const auto& choices) {
    std::set<std::string> seen;
    for (const auto& choice : choices) EXPECT_TRUE(seen.insert(choice.word).second) << choice.word;
    for (const auto& choice : choices) {
      std::istringstream synonyms(choice.synonyms);
      for (std::string word; synonyms >> word;) {
        EXPECT_TRUE(seen.insert(word).second) << word;
        EXPECT_EQ(word, lower_case(word));
      }
    }
  };
  check(kChoices<ScheduleKind>), check(kChoices<DeviceKind>), check(kChoices<PrecisionKind>);
  check(kChoices<RecomputeKind>), check(kChoices<ImportFormat>), check(kChoices<ChannelsKind>);
  check(kChoices<OrientKind>);
}

TEST(KeyTable, ShowsLongValuesInPart) {
  const std::string said = set("batch.global", std::string(500, '9'));
  EXPECT_NE(said.find(" = " + std::string(60, '9') + "... is out of range"), std::string::npos) << said;
}

TEST(KeyTable, TakesEveryChoiceInAnyCase) {
  EXPECT_EQ(request({"plan", "--schedule.kind=1F1B"}).params.schedule.kind, ScheduleKind::k1F1B);
  EXPECT_EQ(request({"plan", "--schedule.kind=naive"}).params.schedule.kind, ScheduleKind::kNaive);
  EXPECT_EQ(request({"plan", "--schedule.kind=interleaved"}).params.schedule.kind, ScheduleKind::kInterleaved);
  EXPECT_EQ(request({"plan", "--schedule.kind=Zero_Bubble"}).params.schedule.kind, ScheduleKind::kZeroBubble);
  EXPECT_EQ(request({"plan", "--run.device=CUDA"}).params.run.device, DeviceKind::kCuda);
  EXPECT_EQ(request({"plan", "--run.reduction=fast"}).params.run.reduction, ReductionKind::kFast);
  EXPECT_EQ(request({"plan", "--lr.schedule=onecycle"}).params.lr.schedule, LearningRateKind::kOnecycle);
}

TEST(KeyTable, TakesNamesInAnyCase) {
  EXPECT_EQ(request({"plan", "--model.name=ResNet18"}).params.model.name, "resnet18");
  EXPECT_EQ(request({"plan", "--model.name=PyramidNet110-A270"}).params.model.name, "pyramidnet110-a270");
  EXPECT_EQ(request({"plan", "--Batch.Global=64", "--BATCH.MICRO", "8"}).params.batch,
            (BatchParams{.global = 64, .micro = 8}));
  EXPECT_TRUE(request({"plan", "--Train.Seed=3"}).given_on_command_line("train.seed"));
  EXPECT_EQ(request({"plan", "--checkpoint.resume=None"}).params.checkpoint.resume, "none");
  EXPECT_EQ(request({"plan", "--init.weights=./Random"}).params.init.weights, "./Random") << "a path is as it is given";
  EXPECT_NE(complaint({"plan", "--Batch.Globl=64"}).find(" Nearest: batch.global."), std::string::npos);
}

TEST(KeyTable, TakesFormerNamesAndSaysTheNewOnes) {
  const std::string said = ": run.plans is now called run.engines: use the new name. The former one is still read";
  const Request given = request({"train", "--data.train=a", "--data.test=b", "--Run.Plans=runs/a/plans.txt"});
  EXPECT_EQ(given.params.run.engines, "runs/a/plans.txt");
  EXPECT_EQ(given.renamed, std::vector<std::string>{"command line" + said});
  EXPECT_TRUE(given.given_on_command_line("run.engines"));
  EXPECT_EQ(request({"plan", "--run.plans", "a"}).params.run.engines, "a");
  EXPECT_TRUE(request({"plan", "--run.engines=a"}).renamed.empty());
  EXPECT_EQ(render(given.params).find("plans ="), std::string::npos) << "only new names are written";
  EXPECT_EQ(request({"plan", "--data.stage=/tmp"}).params.data.copy_to, "/tmp");
  EXPECT_EQ(help_text({"run.plans"}), help_text({"run.engines"}));
}

TEST(KeyTable, TakesFlagsInEveryUsualWord) {
  for (const std::string yes : {"true", "on", "yes", "1", "True"}) {
    EXPECT_TRUE(request({"plan", "--augment.flip=" + yes}).params.augment.flip) << yes;
  }
  for (const std::string no : {"false", "off", "no", "0", "FALSE"}) {
    EXPECT_FALSE(request({"plan", "--data.shuffle=" + no}).params.data.shuffle) << no;
  }
}

TEST(KeyTable, TakesTheEndsOfItsRanges) {
  EXPECT_EQ(request({"plan", "--train.seed=18446744073709551615"}).params.train.seed, 18446744073709551615u);
  EXPECT_EQ(request({"plan", "--optimizer.momentum=0.9999999999999999"}).params.optimizer.momentum, 0.9999999999999999);
  EXPECT_EQ(request({"plan", "--optimizer.lr=0"}).params.optimizer.lr, 0);
  EXPECT_EQ(request({"plan", "--train.epochs=5e-324"}).params.train.epochs, 5e-324);
  EXPECT_EQ(request({"plan", "--lr.step_epochs= 30 ,60,  80.5"}).params.lr.step_epochs,
            (std::vector<double>{30, 60, 80.5}));
}

}  // namespace
}  // namespace convoy
