/// Measurements during which another program works for a while.
#include "convoy/base/repetitions.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace convoy {
namespace {

// Each attempt at a measurement is a list of repetitions.
struct Machine {
  std::vector<std::vector<double>> attempts;
  std::size_t num_measured = 0;

  Steadiest measure() {
    return measure_until_steady(0.1, [this] { return judge_repetitions(attempts.at(num_measured++)); });
  }
};

TEST(Repetitions, OfAnIdleMachineAreBelievedAtOnce) {
  Machine idle{.attempts = {{1.02, 1.0, 1.01, 1.5, 1.03}}};
  const Steadiest found = idle.measure();
  EXPECT_EQ(idle.num_measured, 1u) << "one repetition of five was disturbed: the median is not";
  EXPECT_DOUBLE_EQ(found.repetitions.median_seconds, 1.02);
  EXPECT_NEAR(found.repetitions.spread, 0.02, 1e-12);
}

TEST(Repetitions, ThatWereDisturbedAreMadeAgain) {
  Machine disturbed{.attempts = {{1.5, 1.6, 1.0, 1.7, 1.5}, {1.0, 1.01, 1.02}}};
  const Steadiest found = disturbed.measure();
  EXPECT_EQ(disturbed.num_measured, 2u);
  EXPECT_EQ(found.attempt, 1u);
  EXPECT_DOUBLE_EQ(found.repetitions.median_seconds, 1.01);
}

TEST(Repetitions, OfABusyMachineGiveTheFastestAttemptAndItsSpread) {
  Machine busy{.attempts = {{1.9, 1.0, 2.0}, {1.3, 1.0, 1.4}}};
  const Steadiest found = busy.measure();
  EXPECT_EQ(busy.num_measured, static_cast<std::size_t>(kMaxAttempts));
  EXPECT_EQ(found.attempt, 1u);
  EXPECT_NEAR(found.repetitions.spread, 0.3, 1e-12);
}

// A disturbance that lasts longer than all repetitions is found only by measuring again at another moment.
TEST(Repetitions, AtDifferentMomentsAgreeOnceTwoAreUndisturbed) {
  EXPECT_TRUE(std::isinf(disagreement_of_fastest({1.51})));
  EXPECT_NEAR(disagreement_of_fastest({1.51, 1.0}), 0.51, 1e-12);
  EXPECT_NEAR(disagreement_of_fastest({1.51, 1.0, 1.03}), 0.03, 1e-12);
}

}  // namespace
}  // namespace convoy
