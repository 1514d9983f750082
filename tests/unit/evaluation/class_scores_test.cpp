/// The largest logits, and tables of predictions by class, that can be counted by hand.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "evaluation/logits.h"

namespace convoy {
namespace {

TEST(BestClasses, EqualLogitsCountInTheOrderOfTheClasses) {
  const std::vector<float> logits = {1, 3, 3, 0, 3};
  EXPECT_EQ(best_classes(logits, 4), (std::vector<std::int64_t>{1, 2, 4, 0}));
  EXPECT_EQ(best_classes(logits, 9).size(), 5u);
}

TEST(BestFive, AreTheFirstFiveAndNotTheSixth) {
  const std::vector<float> logits = {2, 6, 5, 2, 4, 3, 1};  // of the equal ones class 0 is the fifth, class 3 the sixth
  EXPECT_EQ(best_five(logits), (Guesses{1, 2, 4, 5, 0}));
}

TEST(BestFive, AreFewerWhereThereAreFewerClasses) {
  EXPECT_EQ(best_five(std::vector<float>{0, 2, 2}), (Guesses{1, 2, 0, ops::kNoLabel, ops::kNoLabel}));
}

TEST(BestFive, AreThoseOfASortForAnyLogits) {
  std::uint32_t state = 1;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<float> logits(static_cast<std::size_t>(1 + trial % 11));
    for (float& logit : logits) {
      state = state * 1664525u + 1013904223u;
      logit = static_cast<float>((state >> 8) % 6);  // many are equal
    }
    const Guesses guesses = best_five(logits);
    const std::vector<std::int64_t> sorted = best_classes(logits, kNumGuesses);
    EXPECT_TRUE(std::equal(sorted.begin(), sorted.end(), guesses.begin()));
  }
}

// Such a row gives a loss that is not a number either; its guesses are classes all the same.
TEST(BestFive, OfLogitsThatAreNotNumbersAreClasses) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<float>& logits : {std::vector<float>{nan, nan}, {nan, 1}, {1, nan}}) {
    const Guesses guesses = best_five(logits);
    EXPECT_EQ(guesses[0] + guesses[1], 1);
    EXPECT_EQ(guesses[2], ops::kNoLabel);
  }
}

TEST(Confusion, NamesTheTrueClassByRowAndThePredictedOneByColumn) {
  Confusion confusion(3);
  for (const auto& [label, predicted] : {std::pair{0, 0}, {0, 2}, {0, 0}, {2, 1}}) confusion.add(label, predicted);
  const std::vector<std::string> names = {"a", "b,\"c\"", "d"};
  EXPECT_EQ(confusion.table(names), "class,a,\"b,\"\"c\"\"\",d\na,2,0,1\n\"b,\"\"c\"\"\",0,0,0\nd,0,1,0\n");
}

TEST(ClassTable, HasTheSharesOfEachClass) {
  const std::vector<ClassCounts> classes = {{.num_samples = 3, .num_predicted = 2, .num_correct = 2},
                                            {.num_predicted = 1},
                                            {.num_samples = 1, .num_predicted = 1}};
  EXPECT_EQ(
      class_table(classes, {}, {"a", "b,\"c\"", "d"}),
      "class,samples,correct,accuracy,precision,f1\na,3,2,0.666667,1,0.8\n\"b,\"\"c\"\"\",0,0,,0,0\nd,1,0,0,0,0\n");
}

TEST(ClassTable, OfSeveralLabelsHasTheirAveragePrecisions) {
  EXPECT_EQ(class_table({{.num_samples = 2, .num_predicted = 2, .num_correct = 1}, {}},
                        {0.25, std::numeric_limits<double>::quiet_NaN()}, {"a", "b"}),
            "class,samples,correct,accuracy,precision,f1,average_precision\na,2,1,0.5,0.5,0.5,0.25\nb,0,0,,,,\n");
}

TEST(NumberTable, HasTheErrorsOfEachTarget) {
  std::vector<TargetSums> sums(2);
  sums[0].add(2, 1);
  sums[0].add(2, 3);
  EXPECT_EQ(number_table(sums, {"energy, kJ", "gap"}),
            "target,samples,rmse,mae,r2\n\"energy, kJ\",2,1,1,0\ngap,0,,,\n");
}

}  // namespace
}  // namespace convoy
