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
  EXPECT_EQ(scores.class_table(names),
            "class,samples,correct,accuracy\na,3,2,0.666667\n\"b,\"\"c\"\"\",0,0,\nd,1,0,0\n");
}

}  // namespace
}  // namespace convoy
