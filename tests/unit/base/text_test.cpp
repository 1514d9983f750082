/// Numbers as text for people, and the suggestions of "did you mean".
#include "convoy/base/text.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace convoy {
namespace {

TEST(HumanBytes, ChangesTheUnitAtEachPowerOf1024) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1.0 KiB");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(1 << 20), "1.0 MiB");
  EXPECT_EQ(human_bytes(102'445'875), "97.7 MiB");
  EXPECT_EQ(human_bytes(std::int64_t{1} << 30), "1.0 GiB");
  EXPECT_EQ(human_bytes((1 << 20) - 1), "1.0 MiB");             // not 1024.0 KiB
  EXPECT_EQ(human_bytes(std::int64_t{5} << 60), "5120.0 PiB");  // there is no larger unit
}

TEST(HumanCount, ChangesTheUnitAtEachThousand) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1000), "1.0 k");
  EXPECT_EQ(human_count(272'474), "272.5 k");
  EXPECT_EQ(human_count(25'557'032), "25.6 M");
  EXPECT_EQ(human_count(999'999), "1.0 M");
  EXPECT_EQ(human_count(4'090'000'000), "4.1 G");
}

TEST(HumanSeconds, ShowsAtMostTwoUnitsAndCarriesARoundedSixty) {
  EXPECT_EQ(human_seconds(0), "0 s");
  EXPECT_EQ(human_seconds(41.7), "42 s");
  EXPECT_EQ(human_seconds(59.6), "1 min 00 s");
  EXPECT_EQ(human_seconds(185), "3 min 05 s");
  EXPECT_EQ(human_seconds(7800), "2 h 10 min");
  EXPECT_EQ(human_seconds(90'000), "25 h 00 min");
}

TEST(HumanSeconds, OfWhatIsNoTimeIsAQuestionMark) {
  EXPECT_EQ(human_seconds(-1), "?");
  EXPECT_EQ(human_seconds(std::numeric_limits<double>::quiet_NaN()), "?");
  EXPECT_EQ(human_seconds(std::numeric_limits<double>::infinity()), "?");
}

const std::vector<std::string> kKeys = {"grid.stages", "batch.micro", "batch.global", "optimizer.lr", "lr.schedule"};

TEST(Nearest, FindsTheKeyBehindEachKindOfSlip) {
  EXPECT_EQ(nearest("grid.stages", kKeys), "grid.stages");
  EXPECT_EQ(nearest("grid.stage", kKeys), "grid.stages");     // a letter left out
  EXPECT_EQ(nearest("batch.microo", kKeys), "batch.micro");   // one too many
  EXPECT_EQ(nearest("batch.gl0bal", kKeys), "batch.global");  // another one
  EXPECT_EQ(nearest("optimiser.lr", kKeys), "optimizer.lr");  // the other spelling
  EXPECT_EQ(nearest("lr.shcedule", kKeys), "lr.schedule");    // two exchanged
}

TEST(Nearest, SuggestsNothingWhereMoreThanHalfDiffers) {
  EXPECT_EQ(nearest("xyzxyzxyz", kKeys), "");
  EXPECT_EQ(nearest("", kKeys), "");
  EXPECT_EQ(nearest("grid.stages", {}), "");
  EXPECT_EQ(nearest("abcd", {"abxy"}), "abxy");  // exactly half differs
  EXPECT_EQ(nearest("abcd", {"axyz"}), "");
}

TEST(Nearest, PrefersWhatAWordBeginsToTwoSlipsButNotToOne) {
  EXPECT_EQ(nearest("pred", {"grid", "predict"}), "predict");
  EXPECT_EQ(nearest("steps", {"step", "steps_kept"}), "step");
  EXPECT_EQ(nearest("lr.step", {"lr.stage", "lr.step_epochs"}), "lr.step_epochs");
}

TEST(Nearest, FindsWhatAWordBeginsWhereNothingElseIsNear) {
  const std::vector<std::string> schedules = {"constant", "step", "multistep", "cosine", "onecycle"};
  EXPECT_EQ(nearest("cos", schedules), "cosine");
  EXPECT_EQ(nearest("multi", schedules), "multistep");
  EXPECT_EQ(nearest("co", schedules), "constant");  // the first of two
  EXPECT_EQ(nearest("cycle", schedules), "");       // not where it ends
  EXPECT_EQ(nearest("stap", {"stapler", "step"}), "step");
}

TEST(Nearest, PrefersTheFirstOfEquallyNearOnes) {
  EXPECT_EQ(nearest("resnet21", {"resnet20", "resnet22"}), "resnet20");
}

TEST(CsvField, IsInQuotesOnlyWhereItMustBe) {
  EXPECT_EQ(csv_field("a b.png"), "a b.png");
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("6\" pipe"), "\"6\"\" pipe\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

TEST(Text, ExcerptsShowControlCharactersAndEndAfter200) {
  EXPECT_EQ(excerpt("plain, gr\xc3\xb6\xc3\x9f"
                    "er"),
            "plain, gr\xc3\xb6\xc3\x9f"
            "er");
  EXPECT_EQ(excerpt(std::string_view("a\0b\n\x1b[31m\x7f\t\r", 12)), "a\\x00b\\n\\x1b[31m\\x7f\\t\\r");
  EXPECT_EQ(excerpt("caf\xe9 \xc2\x9b \xe6\x97"), "caf\\xe9 \\xc2\\x9b \\xe6\\x97")
      << "not UTF-8, and another control character";
  EXPECT_EQ(excerpt(std::string(200, 'a')), std::string(200, 'a'));
  EXPECT_EQ(excerpt(std::string(201, 'a')), std::string(200, 'a') + "...");
  std::string umlauts;
  for (int i = 0; i < 300; ++i) umlauts += "\xc3\xa4";
  EXPECT_EQ(excerpt(umlauts), umlauts.substr(0, 400) + "...");
}

}  // namespace
}  // namespace convoy
