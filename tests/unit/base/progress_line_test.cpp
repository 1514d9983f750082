/// The text of a progress line for counted work, and the cases in which it shows nothing.
#include "convoy/base/progress_line.h"

#include <gtest/gtest.h>

namespace convoy {

TEST(CountedWork, TellsNoRateBeforeOneIsMeasured) {
  CountedWork work("images");
  work.report("importing", 128, 100);
  EXPECT_EQ(work.numbers(1000), "128/1000");
  work.report("importing", 256, 100 + 3e-7);
  EXPECT_EQ(work.numbers(1000), "256/1000") << "427,495,420 images/s are no rate";
}

TEST(CountedWork, TellsTheRateSinceItsFirstReport) {
  CountedWork work("images");
  work.report("test", 100, 10);
  work.report("test", 600, 20);
  EXPECT_EQ(work.numbers(1100), "600/1100  50 images/s  10 s left");
  EXPECT_EQ(work.numbers(1100, "  2 bad"), "600/1100  2 bad  50 images/s  10 s left");
  EXPECT_EQ(work.fraction(1200), 0.5);
  work.report("another", 5, 21);
  EXPECT_EQ(work.numbers(1100), "5/1100") << "its rate is another";
}

TEST(CountedWork, HasNothingLeftAtItsEnd) {
  CountedWork work("images");
  work.report("test", 0, 10);
  work.report("test", 1000, 20);
  EXPECT_EQ(work.numbers(1000), "1000/1000  100 images/s");
  EXPECT_EQ(work.numbers(1049), "1000/1049  100 images/s") << "0 s left says nothing";
}

TEST(SecondsLeft, AreShownWhereTheyAreKnown) {
  EXPECT_EQ(shown_seconds_left(75), "  1 min 15 s left");
  EXPECT_EQ(shown_seconds_left(-1), "");
  EXPECT_EQ(shown_seconds_left(0.4), "");
}

}  // namespace convoy
