/// Confusion and top-5 of logits that can be counted by hand.
#include <gtest/gtest.h>

#include "evaluation/logits.h"

namespace convoy {
namespace {

TEST(ClassScores, EqualLogitsCountInTheOrderOfTheClasses) {
  const std::vector<float> logits = {1, 3, 3, 0, 3};
  EXPECT_EQ(best_classes(logits, 4), (std::vector<std::int64_t>{1, 2, 4, 0}));
  EXPECT_EQ(best_classes(logits, 9).size(), 5u);
}

TEST(ClassScores, Top5IsAmongTheFirstFiveAndNotTheSixth) {
  ClassScores scores(7);
  const std::vector<float> logits = {6, 5, 4, 3, 2, 2, 1};  // of the equal ones class 4 is the fifth, class 5 the sixth
  for (const std::int64_t label : {0, 4, 5, 6}) scores.add(label, logits);
  EXPECT_EQ(scores.top5(), 0.5);
}

TEST(ClassScores, TablesNameTheTrueClassByRowAndThePredictedOneByColumn) {
  ClassScores scores(3);
  scores.add(0, std::vector<float>{1, 0, 0});
  scores.add(0, std::vector<float>{0, 0, 1});
  scores.add(0, std::vector<float>{1, 0, 0});
  scores.add(2, std::vector<float>{0, 1, 0});
  const std::vector<std::string> names = {"a", "b,\"c\"", "d"};
  EXPECT_EQ(scores.confusion_table(names), "class,a,\"b,\"\"c\"\"\",d\na,2,0,1\n\"b,\"\"c\"\"\",0,0,0\nd,0,1,0\n");
  EXPECT_EQ(
      scores.class_table(names),
      "class,samples,correct,accuracy,precision,f1\na,3,2,0.666667,1,0.8\n\"b,\"\"c\"\"\",0,0,,0,0\nd,1,0,0,0,0\n");
}

// By hand: recalls 3/4, 0/1, 1/1 of classes 0, 1 and 3; class 2 has no sample but was taken for one, class 4 is
// nowhere. F1 = 2 * 3 / (4 + 3), 0 / 1, 0 / 1, 2 * 1 / (1 + 2).
TEST(ClassScores, BalancedAccuracyAndMacroF1CountEachClassOnce) {
  ClassScores scores(5);
  const auto add = [&](std::int64_t label, std::size_t predicted) {
    std::vector<float> logits(5);
    logits[predicted] = 1;
    scores.add(label, logits);
  };
  for (int i = 0; i < 3; ++i) add(0, 0);
  add(0, 3);
  add(1, 2);
  add(3, 3);
  EXPECT_DOUBLE_EQ(scores.balanced_accuracy(), (0.75 + 0 + 1) / 3);
  EXPECT_DOUBLE_EQ(scores.macro_f1(), (6.0 / 7 + 0 + 0 + 2.0 / 3) / 4);
}

}  // namespace
}  // namespace convoy
