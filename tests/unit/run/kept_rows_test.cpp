/// A restart keeps the right rows of a table, and reports those that are lost.
#include <gtest/gtest.h>

#include "run/run_log.h"

namespace convoy {

namespace {

constexpr LogColumns kSteps{.header = "step,loss,lr", .step_column = 0};
constexpr LogColumns kEpochs{.header = "epoch,step,loss,save", .step_column = 1};

KeptRows keep_steps(const std::string& rows, std::int64_t last) {
  return keep_rows("steps.csv", "step,loss,lr\n" + rows, kSteps, last, {.last = last});
}

std::string loss_of(const std::string& numbers) {
  return "steps.csv has lost " + numbers +
         ". The file was removed or changed since then. The run continues without these rows";
}

}  // namespace

TEST(KeptRows, AreThoseUpToTheCheckpoint) {
  const KeptRows kept = keep_steps("1,0.5,0.1\n2,0.25,0.1\n3,0.125,0.1\n", 2);
  EXPECT_EQ(kept.text, "1,0.5,0.1\n2,0.25,0.1\n");
  EXPECT_EQ(kept.lost, "");
  EXPECT_EQ(keep_steps("", 0).lost, "") << "a new run";
}

TEST(KeptRows, TellWhichAreLost) {
  EXPECT_EQ(keep_steps("1,0,0\n3,0,0\n", 6).lost,
            loss_of("4 of the 6 rows that this run wrote before: those of step 2, 4 to 6"));
  EXPECT_EQ(keep_rows("steps.csv", "", kSteps, 3, {.last = 3}).lost,
            loss_of("3 of the 3 rows that this run wrote before: those of step 1 to 3"));
  EXPECT_EQ(keep_steps("2,0,0\n4,0,0\n6,0,0\n8,0,0\n10,0,0\n", 11).lost,
            loss_of("6 of the 11 rows that this run wrote before: those of step 1, 3, 5, 7, ..."));
}

TEST(KeptRows, AreWholeLinesOfTheTableInOrder) {
  // Rows that are cut short, without a step, of too many columns, out of order, or repeated.
  for (const char* damaged :
       {"3,0.5,0", "x,0,0\n", "3 ,0,0\n", "3,0,0,0\n", "3,0\n", "1,0,0\n", "2,0,0\n", "\n", ",,\n"}) {
    const KeptRows kept = keep_steps(std::string("1,0,0\n2,0,0\n") + damaged, 3);
    EXPECT_EQ(kept.text, "1,0,0\n2,0,0\n") << damaged;
    EXPECT_EQ(kept.lost, loss_of("1 of the 3 rows that this run wrote before: those of step 3")) << damaged;
  }
  const KeptRows headless = keep_rows("steps.csv", "1,0,0\n2,0,0\n", kSteps, 2, {.last = 2});
  EXPECT_EQ(headless.text, "1,0,0\n2,0,0\n");
  EXPECT_EQ(headless.lost, "");
}

TEST(KeptRows, OfAnEpochAreExpectedAtItsEnd) {
  const std::string text = "epoch,step,loss,save\n1,10,0,0\n3,25,0,0\n";
  EXPECT_EQ(keep_rows("log.csv", text, kEpochs, 25, {.last = 25, .every = 10}).lost,
            "log.csv has lost 1 of the 3 rows that this run wrote before: those of step 20. The file was removed or "
            "changed since then. The run continues without these rows");
  EXPECT_EQ(keep_rows("log.csv", text, kEpochs, 24, {.last = 10, .every = 10}).text, "1,10,0,0\n");
}

TEST(KeptRows, AreNoneWhereTheHeaderLacksTheStep) {
  EXPECT_EQ(keep_rows("log.csv", "epoch\n2\n", kEpochs, 10, {.last = 10, .every = 10}).text, "");
}

TEST(KeptRows, OfARunThatBeganElsewhereBeginThere) {
  const std::string rows = "step,loss,lr\n41,0,0\n42,0,0\n";
  EXPECT_EQ(keep_rows("steps.csv", rows, kSteps, 42, {.first = 41, .last = 42}).lost, "");
  EXPECT_EQ(keep_rows("steps.csv", rows, kSteps, 42, {.first = 0, .last = 42}).lost, "") << "nobody knows where";
  EXPECT_EQ(keep_rows("steps.csv", "", kSteps, 40, {.first = 41, .last = 40}).lost, "") << "it begins now";
  EXPECT_EQ(keep_rows("steps.csv", rows, kSteps, 43, {.first = 0, .last = 43}).lost,
            loss_of("1 of the 3 rows that this run wrote before: those of step 43"));
}

TEST(KeptRows, OfAnOlderTableAreFilledUp) {
  const KeptRows kept = keep_rows("log.csv", "epoch,step,loss\n1,10,0.5\n", kEpochs, 10, {.last = 10, .every = 10});
  EXPECT_EQ(kept.text, "1,10,0.5,\n");
  EXPECT_EQ(kept.lost, "");
}

}  // namespace convoy
