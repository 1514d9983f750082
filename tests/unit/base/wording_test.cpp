/// Counts and numbers as text for people.
#include "convoy/base/wording.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace convoy {

TEST(Wording, ACountHasItsWordInTheRightNumber) {
  EXPECT_EQ(counted(1, "step"), "1 step");
  EXPECT_EQ(counted(2, "step"), "2 steps");
  EXPECT_EQ(counted(0, "warning"), "0 warnings");
  EXPECT_EQ(counted(1, "micro-batch"), "1 micro-batch");
  EXPECT_EQ(counted(3, "micro-batch"), "3 micro-batches");
  EXPECT_EQ(counted(2, "epoch"), "2 epochs");
  EXPECT_EQ(counted(10, "class"), "10 classes");
  EXPECT_EQ(counted(2, "entry"), "2 entries");
  EXPECT_EQ(counted(2, "array"), "2 arrays");
}

TEST(Wording, ARangeOfOneIsSingular) {
  EXPECT_EQ(counted_range(4, 4, "step"), "step 4");
  EXPECT_EQ(counted_range(4, 6, "step"), "steps 4 to 6");
}

TEST(Wording, ANumberHasNoExponent) {
  EXPECT_EQ(plain_number(30313), "30313");
  EXPECT_EQ(plain_number(1572.4), "1572");
  EXPECT_EQ(plain_number(12.3456), "12.35");
  EXPECT_EQ(plain_number(0.0123456), "0.01235");
  EXPECT_EQ(plain_number(0.0001, 3), "0.0001");
  EXPECT_EQ(plain_number(50, 3), "50");
  EXPECT_EQ(plain_number(0), "0");
  EXPECT_EQ(plain_number(9999.6), "10000");
  EXPECT_EQ(plain_number(1e20), "1e+20");
}

TEST(Wording, NotANumberHasNoSign) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(plain_number(nan), "nan");
  EXPECT_EQ(plain_number(std::copysign(nan, -1.0)), "nan");
}

TEST(Wording, ALineThatIsTooLongSaysThatItWasCut) {
  EXPECT_EQ(cut_to("twelve signs", 12), "twelve signs");
  EXPECT_EQ(cut_to("twelve signs", 11), "twelve s...");
  EXPECT_EQ(cut_to("twelve signs", 11, "…"), "twelve sig…");
  EXPECT_EQ(cut_to("Größe äöü", 9), "Größe äöü") << "a letter of two bytes takes one column";
  EXPECT_EQ(cut_to("Größe äöü", 8, "…"), "Größe ä…");
}

}  // namespace convoy
