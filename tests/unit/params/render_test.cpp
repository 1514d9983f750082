/// Printed texts: the effective file is read back to the same bits, the help holds every key, and names are those of
/// the files.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "convoy/params/parameters.h"

#include "params/command_table.h"
#include "params/key_table.h"
#include "unit/params/support.h"

namespace convoy {
namespace {

template <typename T>
T any(std::mt19937_64& engine) {
  return kChoices<T>[engine() % std::size(kChoices<T>)].value;
}

/// Values with all their bits in use, within the ranges.
Parameters random_parameters(std::mt19937_64& engine) {
  const auto fraction = [&] { return std::ldexp(static_cast<double>(engine() >> 11), -53); };
  const auto tiny = [&] { return std::ldexp(fraction() + 0.5, -1 - static_cast<int>(engine() % 1000)); };
  const auto count = [&] { return static_cast<std::int64_t>(engine() % 256 + 1); };
  Parameters p;
  p.model.name = "resnet50";
  p.data = {.train = "a b=c/[x]; \"q\"",
            .val = "v",
            .test = "d\xC3\xA9/e",
            .shuffle = engine() % 2 == 0,
            .loader_threads = count(),
            .verify = any<VerifyKind>(engine)};
  p.data.limit = engine() % 2 == 0 ? SampleLimit{.percent = 100 * fraction() + 1e-300} : SampleLimit{.count = count()};
  p.batch.micro = count();
  p.batch.global = p.batch.micro * count();
  p.grid.stages = static_cast<std::int64_t>(engine() % 4);  // 0: auto
  for (std::uint64_t cut = engine() % 3; cut > 0; --cut) p.grid.cuts.push_back(count());
  p.schedule = {.kind = any<ScheduleKind>(engine), .chunks = static_cast<std::int64_t>(engine() % 63) + 2};
  p.memory = {.recompute = any<RecomputeKind>(engine), .limit_gib = fraction()};
  p.optimizer = {.kind = any<OptimizerKind>(engine),
                 .lr = fraction() * 1000,
                 .momentum = tiny(),
                 .weight_decay = tiny(),
                 .decay_norms_and_biases = engine() % 2 == 0,
                 .beta1 = fraction(),
                 .beta2 = fraction(),
                 .epsilon = tiny(),
                 .trust_coefficient = tiny()};
  p.optimizer.nesterov = p.optimizer.kind == OptimizerKind::kSgd && engine() % 2 == 0;
  p.lr = {.schedule = LearningRateKind::kMultistep,
          .warmup_epochs = tiny(),
          .step_epochs = {},
          .gamma = tiny(),
          .power = tiny()};
  for (double epoch = tiny(); p.lr.step_epochs.size() < 5; epoch += 1 + fraction()) p.lr.step_epochs.push_back(epoch);
  p.train = {.epochs = 1000 * tiny() + 1e-300, .max_steps = count(), .seed = engine()};
  if (engine() % 2 == 0) p.train.loss = any<LossKind>(engine);
  p.train.huber_delta = fraction() + 0.5;
  p.train.label_smoothing = fraction();
  p.train.clip_norm = tiny();
  p.train.class_weights = {.balanced = engine() % 2 == 0};
  if (!p.train.class_weights.balanced) p.train.class_weights.factors = {1, tiny(), 2.5};
  p.train.ema_decay = fraction();
  p.train.evaluate_every_epochs = count();
  p.train.metric = engine() % 2 == 0 ? MetricKind::kLoss : MetricKind::kMacroF1;
  p.train.patience_epochs = count();
  p.train.on_bad_step = engine() % 2 == 0 ? BadStepKind::kSkip : BadStepKind::kStop;
  p.train.loss_limit = tiny();
  p.train.max_bad_steps = 1 + count();
  p.train.rollback_factor = tiny();
  p.train.max_rollbacks = 1 + count() % 1000;
  p.evaluate.weights = any<WeightsKind>(engine);
  p.evaluate.mirror = engine() % 2 == 0;
  p.evaluate.confusion = engine() % 2 == 0;
  p.predict = {.data = "d", .output = "p.csv", .top = 1 + count() % 1000, .orient = any<OrientKind>(engine)};
  if (engine() % 2 == 0) {
    p.predict.data = kStandardInput;
    p.predict.frames = {.width = 1 + count() % 16384, .height = 1 + count() % 16384};
  }
  p.augment = {.size = count(),
               .crop_padding = count(),
               .border = any<BorderKind>(engine),
               .scale = tiny(),
               .flip = engine() % 2 == 0,
               .brightness = fraction(),
               .contrast = fraction(),
               .saturation = tiny(),
               .policy = any<AutoAugmentKind>(engine),
               .policy_operations = 1 + count() % 16,
               .policy_magnitude = count() % 31,
               .normalize = engine() % 2 == 0};
  // Values that exclude each other.
  p.data.balanced = p.data.shuffle && !p.train.class_weights.balanced && engine() % 2 == 0;
  p.augment.cutout = engine() % 2 == 0 ? count() : 0;
  p.augment.erase = p.augment.cutout > 0 ? 0 : fraction();
  p.augment.cutmix = p.batch.micro > 1 ? tiny() : 0;
  p.checkpoint = {.every_epochs = tiny(),
                  .every_steps = count(),
                  .keep = count(),
                  .best = engine() % 2 == 0,
                  .resume = "runs/a.h5",
                  .allow_other_data = engine() % 2 == 0};
  p.replay.steps = {.first = count(), .last = 0};
  p.replay.steps.last = p.replay.steps.first + count();
  p.init = {.weights = "./w", .strict = engine() % 2 == 0, .zero_residual = engine() % 2 == 0};
  p.run = {.directory = "runs/long/" + std::string(100, 'x'),
           .threads = count(),
           .placement = PlacementKind::kNone,
           .device = DeviceKind::kCpu,
           .reduction = ReductionKind::kFast,
           .bucket_mib = tiny()};
  for (std::uint64_t i = engine() % 3; i > 0; --i) p.plan.ranks.push_back(count()), p.plan.micro.push_back(count());
  p.plan.measure = engine() % 2 == 0;
  p.check.hash = engine() % 2 == 0;
  p.plan.latency_us = {fraction(), tiny()};
  p.plan.bandwidth_gb_s = {tiny()};
  p.plan.samples_per_rank = count();
  p.import = {.format = any<ImportFormat>(engine),
              .source = "s",
              .output = "o",
              .storage = StorageKind::kRaw,
              .size = count(),
              .resize = any<ResizeKind>(engine),
              .channels = any<ChannelsKind>(engine),
              .val_fraction = fraction(),
              .shards = count(),
              .strict = engine() % 2 == 0,
              .replace = engine() % 2 == 0};
  return p;
}

TEST(Render, ComesBackToTheSameBits) {
  std::mt19937_64 engine(1);
  for (int round = 0; round < 300; ++round) {
    const Parameters p = random_parameters(engine);
    const std::string text = render(p);
    ASSERT_EQ(parse_parameters(text, "params.cfg"), p) << text;
    ASSERT_EQ(render(parse_parameters(text, "params.cfg")), text);
  }
}

TEST(Render, QuotesWhatAFileWouldReadAsAnotherValue) {
  for (const std::string& value : std::vector<std::string>{"a#b", "a #b", "#a", ";", " a ", "\"a\"", "'a'", "\"",
                                                           "'it''s", "a ;b", "it's \"# here", "\"\"", "a = b"}) {
    Parameters p;
    p.data.train = value;
    EXPECT_EQ(parse_parameters(render(p), "params.cfg"), p) << value;
  }
  Parameters p;
  p.data.train = "runs/a#b";
  EXPECT_NE(render(p).find("\ntrain = runs/a#b "), std::string::npos) << "no more quotes than it needs";
}

TEST(Render, OfTheDefaultsComesBackToThem) {
  EXPECT_EQ(parse_parameters(render(Parameters{}), "params.cfg"), Parameters{});
}

TEST(Render, CommentsEachKeyWithItsSentenceAndUnit) {
  const std::string text = render(Parameters{});
  for (const params::Key& key : params::keys()) {
    const std::string unit = key.unit.empty() ? "" : fmt::format(" [{}]", key.unit);
    EXPECT_NE(text.find(fmt::format("\n{} = ", key.leaf())), std::string::npos) << key.name;
    EXPECT_NE(text.find(fmt::format("  # {}{}\n", key.sentence, unit)), std::string::npos) << key.name;
  }
  EXPECT_NE(text.find("[batch]\nglobal = 128 "), std::string::npos);
}

/// The words of a text with one blank between them, independent of its line breaks.
std::string words_of(const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) all += word + " ";
  return all;
}

TEST(Help, HasEveryCommandAndKeyWithDefaultTypeRangeUnitAndSentence) {
  const std::string help = words_of(help_text());
  for (const params::Command& command : params::commands())
    EXPECT_NE(help.find(command.name + " " + words_of(command.sentence)), std::string::npos) << command.name;
  for (const params::Key& key : params::keys()) {
    const std::string value = key.default_text().empty() ? "" : " = " + key.default_text();
    const std::string unit = key.unit.empty() ? "" : " " + key.unit;
    const std::string entry =
        fmt::format("{}{} ({}: {}{}) {}", key.name, value, key.value.type, key.value.allowed, unit, key.sentence);
    EXPECT_NE(help.find(words_of(entry)), std::string::npos) << entry;
  }
}

TEST(Help, AsMarkdownHasARowForEveryCommandAndKeyUnderItsSection) {
  std::set<std::string> rows;
  std::istringstream lines(markdown_help({{"`net7`", "a paper"}}, ""));
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (line.starts_with("| `")) rows.insert(section + line.substr(2, line.find(" | ") - 2));
  }
  for (const params::Command& command : params::commands())
    EXPECT_TRUE(rows.contains(fmt::format("Commands`{}`", command.name))) << command.name;
  for (const params::Key& key : params::keys())
    EXPECT_TRUE(rows.contains(fmt::format("[{}]`{}`", key.section(), key.leaf()))) << key.name;
  EXPECT_NE(markdown_help({{"`net7`", "a paper"}}, "").find("| `net7` | a paper |\n"), std::string::npos);
  const std::string micro = params::find_key("batch.micro")->sentence;
  EXPECT_NE(markdown_help({{"`net7`", "a paper"}}, "")
                .find("\n| `micro` | `32` | integer: 1 to 16777216 samples | " + micro + " |\n"),
            std::string::npos);
  EXPECT_NE(markdown_help({{"`net7`", "a paper"}}, "").find("bn1.\\* |"), std::string::npos)
      << "no star that begins emphasis";
}

TEST(Help, FitsTheColumnsThatThereAre) {
  for (const int columns : {40, 60, 80, 100}) {
    std::size_t longest = 0;
    for (const std::vector<std::string>& topics :
         std::vector<std::vector<std::string>>{{}, {"train"}, {"info", "lr"}}) {
      std::istringstream lines(help_text(topics, columns));
      for (std::string line; std::getline(lines, line);) {
        const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
        if (line.find(' ', begin) == std::string::npos) continue;  // one word, which is not cut
        EXPECT_LE(line.size(), static_cast<std::size_t>(columns)) << line;
        longest = std::max(longest, line.size());
      }
    }
    EXPECT_GT(longest, static_cast<std::size_t>(columns) - 4) << "and uses them";
  }
}

/// The names of the commands and keys that have an entry in the help.
std::vector<std::string> entries(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("  ") && !line.starts_with("   ")) names.push_back(line.substr(2, line.find(' ', 2) - 2));
  return names;
}

using Names = std::vector<std::string>;

TEST(Help, OnATopicHasItsEntriesAloneAsTheFullPageHasThem) {
  EXPECT_EQ(entries(help_text({"optimizer.lr"})), Names{"optimizer.lr"});
  EXPECT_EQ(entries(help_text({"batch"})), (Names{"batch.global", "batch.micro"}));
  EXPECT_EQ(entries(help_text({"kind"})), (Names{"schedule.kind", "optimizer.kind"}));
  EXPECT_EQ(entries(help_text({"Grid.Cuts", "join", "batch.micro"})), (Names{"batch.micro", "grid.cuts"}));
  const Names lr = entries(help_text({"lr"}));  // the section, and the key in another
  ASSERT_EQ(lr.size(), 6u);
  EXPECT_EQ(lr[0], "optimizer.lr");
  EXPECT_EQ(lr[1], "lr.schedule");
  std::istringstream lines(help_text({"batch"}));
  for (std::string line; std::getline(lines, line);)
    EXPECT_NE(("\n" + help_text()).find("\n" + line + "\n"), std::string::npos) << line;
}

TEST(Help, OnACommandHasTheKeysThatItReadsAlone) {
  EXPECT_EQ(entries(help_text({"export"})), (Names{"checkpoint.resume", "evaluate.weights", "init.weights",
                                                   "init.strip_prefix", "run.directory", "export.output"}));
  EXPECT_EQ(help_text({"export"}).find("convoy export [RUN | FILE.cfg ...] [--section.key=value ...]\n    writes the "),
            0u);
  EXPECT_EQ(help_text({"info"}).find("convoy info [PATH | NETWORK | FILE.lua ...] [--section.key=value ...]\n"), 0u);
  EXPECT_EQ(
      help_text({"plan"}).find("convoy plan [RUN | FILE.cfg ...] [NETWORK | FILE.lua] [--section.key=value ...]\n"),
      0u);
  const Names train = entries(help_text({"train"}));
  const auto has = [&](const std::string& name) { return std::find(train.begin(), train.end(), name) != train.end(); };
  EXPECT_TRUE(has("train.epochs") && has("data.train") && has("optimizer.lr") && has("run.trace"));
  EXPECT_FALSE(has("import.source") || has("predict.top") || has("export.output") || has("plan.ranks"));
}

TEST(Help, OfTheCommandsHasEveryKeySomewhereAndNamesOnlyWhatThereIs) {
  std::set<std::string> read;
  for (const params::Command& command : params::commands()) {
    for (const params::Key& key : params::keys())
      if (command.is_reading(key)) read.insert(key.name);
    for (const std::string& name : command.reads)
      EXPECT_TRUE(params::find_key(name) || std::ranges::count(params::sections(), name) == 1)
          << command.name << " reads " << name;
    for (const Names& names : command.needs)
      for (const std::string& name : names)
        EXPECT_TRUE(command.is_reading(*params::find_key(name))) << command.name << " needs " << name;
  }
  for (const params::Key& key : params::keys())
    EXPECT_TRUE(read.contains(key.name)) << key.name << " is read by nobody";
}

TEST(Help, IsAskedOfTheCommandThatStandsBeforeIt) {
  EXPECT_EQ(testing::request({"train", "my.cfg", "--help"}).arguments, Names{"train"});
  EXPECT_EQ(testing::request({"plan", "-h"}).arguments, Names{"plan"});
  EXPECT_TRUE(testing::request({"--help"}).arguments.empty());
  EXPECT_TRUE(testing::request({"help", "--help"}).arguments.empty());
}

TEST(Help, OnWhatIsNotThereIsRefusedWithTheNearest) {
  const auto said = [](const std::string& topic) {
    return test::message_of<RequestError>([&] { help_text({"batch", topic}); });
  };
  EXPECT_EQ(said("optimizer.lrr"),
            "convoy help optimizer.lrr: there is no such key, section or command. Nearest: optimizer.lr. All of them: "
            "convoy help.");
  EXPECT_NE(said("optim.weight").find(" Nearest: optimizer.weight_decay. "), std::string::npos);
  EXPECT_NE(said("optimzer").find(" Nearest: optimizer. "), std::string::npos);
  EXPECT_NE(said("trian").find(" Nearest: train. "), std::string::npos);
  EXPECT_EQ(said("xyzzyxyzzy"),
            "convoy help xyzzyxyzzy: there is no such key, section or command. All of them: convoy help.");
}

TEST(Help, OnAWordThatIsNoNameShowsAllTextsThatHaveIt) {
  const std::string early = help_text({"early"});
  EXPECT_NE(early.find("No command, section or key is called 'early'."), std::string::npos) << early;
  EXPECT_NE(early.find("\n  train.patience_epochs "), std::string::npos) << early;
  const std::string over = help_text({"Over"});
  EXPECT_NE(over.find("\n  train.clip_norm "), std::string::npos) << over;
  EXPECT_EQ(over.find("\n  import.val_fraction "), std::string::npos) << "sets that overlap:\n" << over;
  EXPECT_NE(help_text({"epoch"}).find("\n  train.epochs "), std::string::npos);
  const std::string two = help_text({"optimizer.lr", "early"});
  EXPECT_LT(two.find("\n  optimizer.lr "), two.find("\n  train.patience_epochs ")) << two;
}

TEST(Names, AreThoseOfTheParameterFiles) {
  EXPECT_STREQ(name_of(ScheduleKind::kNaive), "naive");
  EXPECT_STREQ(name_of(ScheduleKind::kGpipe), "gpipe");
  EXPECT_STREQ(name_of(ScheduleKind::k1F1B), "1f1b");
  EXPECT_STREQ(name_of(ScheduleKind::kInterleaved), "interleaved");
  EXPECT_STREQ(name_of(ScheduleKind::kZeroBubble), "zero_bubble");
  EXPECT_STREQ(name_of(OptimizerKind::kSgd), "sgd");
  EXPECT_STREQ(name_of(OptimizerKind::kAdam), "adam");
  EXPECT_STREQ(name_of(OptimizerKind::kAdamW), "adamw");
  EXPECT_STREQ(name_of(OptimizerKind::kLars), "lars");
  EXPECT_STREQ(name_of(OptimizerKind::kLamb), "lamb");
  EXPECT_STREQ(name_of(LearningRateKind::kConstant), "constant");
  EXPECT_STREQ(name_of(LearningRateKind::kStep), "step");
  EXPECT_STREQ(name_of(LearningRateKind::kMultistep), "multistep");
  EXPECT_STREQ(name_of(LearningRateKind::kCosine), "cosine");
  EXPECT_STREQ(name_of(LearningRateKind::kPolynomial), "polynomial");
  EXPECT_STREQ(name_of(WeightsKind::kEma), "ema");
  EXPECT_STREQ(name_of(WeightsKind::kTrained), "trained");
  EXPECT_STREQ(name_of(LearningRateKind::kOnecycle), "onecycle");
  EXPECT_STREQ(name_of(DeviceKind::kAuto), "auto");
  EXPECT_STREQ(name_of(DeviceKind::kCpu), "cpu");
  EXPECT_STREQ(name_of(DeviceKind::kCuda), "cuda");
  EXPECT_STREQ(name_of(ReductionKind::kInvariant), "invariant");
  EXPECT_STREQ(name_of(ReductionKind::kFast), "fast");
  EXPECT_STREQ(name_of(PrecisionKind::kF32), "f32");
  EXPECT_STREQ(name_of(PrecisionKind::kTf32), "tf32");
  EXPECT_STREQ(name_of(PrecisionKind::kBf16), "bf16");
  EXPECT_STREQ(name_of(PrecisionKind::kFp16), "fp16");
}

TEST(ChangedKeys, SayWhetherTheyChangeTheResult) {
  Parameters after;
  after.optimizer.lr *= 2;
  after.augment.flip = !after.augment.flip;
  after.grid.stages = 3;
  after.schedule.kind = ScheduleKind::kGpipe;
  after.memory.recompute = RecomputeKind::kCell;
  after.run.directory = "elsewhere";
  std::vector<std::string> result, other;
  for (const KeyChange& change : changed_keys({}, after))
    (change.changes_result ? result : other).push_back(change.key);
  EXPECT_EQ(result, (std::vector<std::string>{"optimizer.lr", "augment.flip"}));
  EXPECT_EQ(other, (std::vector<std::string>{"grid.stages", "schedule.kind", "memory.recompute", "run.directory"}));
}

TEST(ChangedKeys, SayThatAValueIsEmpty) {
  Parameters balanced;
  balanced.train.class_weights.balanced = true;
  const std::vector<KeyChange> changes = changed_keys(balanced, {});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].before, "balanced");
  EXPECT_EQ(changes[0].after, "(empty)");
}

TEST(ChangedKeys, AreThoseWhoseValuesDiffer) {
  Parameters before, after;
  EXPECT_TRUE(changed_keys(before, after).empty());
  after.optimizer.lr = 0.05;
  after.lr.schedule = LearningRateKind::kCosine;
  const std::vector<KeyChange> changes = changed_keys(before, after);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].key, "optimizer.lr");
  EXPECT_EQ(changes[0].before, "0.1");
  EXPECT_EQ(changes[0].after, "0.05");
  EXPECT_EQ(changes[1].after, "cosine");
}

}  // namespace
}  // namespace convoy
