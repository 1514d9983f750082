/// The time left of a run, on numbers that are worked out by hand.
#include "run/pace.h"

#include <gtest/gtest.h>

namespace convoy {

TEST(Pace, IsUnknownBeforeAStepWasMeasured) {
  EXPECT_LT(Pace().seconds_left(0, 100, 1, 0), 0);
}

TEST(Pace, CountsStepsAloneBeforeAnythingElseWasDone) {
  EXPECT_EQ(Pace().seconds_left(0.5, 100, 3, 7), 50);
}

// A first step of minutes, an evaluation after ten steps: what happens once tells nothing about each step.
TEST(Pace, TakesAnEvaluationForEachEpochThatIsToEnd) {
  Pace pace;
  pace.add_other({.evaluation = 20, .save = 1});
  pace.end_epoch();
  EXPECT_EQ(pace.seconds_left(0.1, 1000, 10, 10), 100 + 10 * 21);
  pace.add_other({.save = 3});
  pace.end_epoch();
  EXPECT_EQ(pace.seconds_left(0.1, 1000, 10, 20), 100 + 10 * 12) << "the mean of two epochs";
}

TEST(Pace, TakesCheckpointsWithinTheFirstEpochToStayAsFrequent) {
  Pace pace;
  pace.add_other({.save = 4});
  EXPECT_EQ(pace.seconds_left(0.1, 1000, 1, 50), 100 + 4 * 20);
}

TEST(Pace, CountsNoTimeInWhichStepsGoOnWhileACheckpointIsWritten) {
  Pace pace;
  pace.add_other({.save = 1, .write = 50});
  EXPECT_EQ(pace.of_epoch().total(), 1);
  pace.end_epoch();
  EXPECT_EQ(pace.seconds_left(0.1, 1000, 10, 10), 100 + 10 * 1);
}

TEST(Pace, KnowsThatATraceIsWrittenOnce) {
  Pace pace;
  pace.add_other({.studies = 30});
  EXPECT_EQ(pace.of_epoch().total(), 30) << "no training time";
  EXPECT_EQ(pace.seconds_left(0.1, 1000, 1, 10), 100);
  pace.end_epoch();
  EXPECT_EQ(pace.seconds_left(0.1, 1000, 1, 10), 100);
  EXPECT_EQ(pace.of_epoch().total(), 0);
  EXPECT_EQ(pace.of_run().total(), 30);
}

}  // namespace convoy
