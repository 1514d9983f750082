/// Tests the comparison of a job's remaining time with the time of its steps.
#include <optional>

#include <gtest/gtest.h>

#include "preflight/run_plan.h"

namespace convoy::preflight {

TEST(TimeLeft, IsWhatSlurmSaysLessNow) {
  EXPECT_EQ(seconds_left("1700003600", 1'700'000'000), 3600);
  EXPECT_EQ(seconds_left(nullptr, 1'700'000'000), std::nullopt);
  EXPECT_EQ(seconds_left("Unknown", 1'700'000'000), std::nullopt);
}

TEST(Time, ThatIsNotKnownIsNotCheckedAndTimeThatIsOverFails) {
  EXPECT_EQ(judge_time(std::nullopt, 10).outcome, Outcome::kNotChecked);
  EXPECT_EQ(judge_time(-1, 10).outcome, Outcome::kFails);
}

TEST(Time, ThatIsNotEnoughForTheStepsIsAWarning) {
  EXPECT_EQ(judge_time(3600, std::nullopt), ok("the job has 1 h 00 min left"));
  EXPECT_EQ(judge_time(3600, 1800).outcome, Outcome::kOk);
  EXPECT_EQ(judge_time(3600, 3500).outcome, Outcome::kWarning);
}

}  // namespace convoy::preflight
