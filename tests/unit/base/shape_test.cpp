/// Counts of shapes, and the rounding of strides.
#include "convoy/base/shape.h"

#include <gtest/gtest.h>

namespace convoy {
namespace {

TEST(Shape, CountsValuesAndPixelsBeyondThirtyTwoBits) {
  const Shape shape = {.n = 1024, .h = 224, .w = 224, .c = 64};
  EXPECT_EQ(shape.pixels(), 51'380'224);
  EXPECT_EQ(shape.count(), 3'288'334'336);
  EXPECT_EQ(to_string(shape), "1024x224x224x64");
}

TEST(ImageShape, BecomesABatchOfItself) {
  const ImageShape image = {.h = 28, .w = 30, .c = 3};
  EXPECT_EQ(image.count(), 2520);
  EXPECT_EQ(image.batch(5), (Shape{.n = 5, .h = 28, .w = 30, .c = 3}));
  EXPECT_EQ(to_string(image), "28x30x3");
}

TEST(RoundUp, GivesTheNextMultipleAndKeepsMultiples) {
  EXPECT_EQ(round_up(0, 16), 0);
  EXPECT_EQ(round_up(1, 16), 16);
  EXPECT_EQ(round_up(16, 16), 16);
  EXPECT_EQ(round_up(17, 16), 32);
}

}  // namespace
}  // namespace convoy
