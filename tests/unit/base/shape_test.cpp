/// Counts of shapes, and the rounding of strides.
#include "convoy/base/shape.h"

#include <type_traits>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/input_shape.h"

#include "unit/messages.h"

namespace convoy {
namespace {

TEST(Shape, CountsValuesAndPixelsBeyondThirtyTwoBits) {
  const Shape shape = Shape::images(1024, 224, 224, 64);
  EXPECT_EQ(shape.pixels(), 51'380'224);
  EXPECT_EQ(shape.count(), 3'288'334'336);
  EXPECT_EQ(to_string(shape), "1024x224x224x64");
}

TEST(Shape, OfVolumesCountsAndShowsTheirSlices) {
  const Shape volumes = {.n = 2, .d = 5, .h = 3, .w = 7, .c = 11};
  EXPECT_EQ(volumes.length(), 105);
  EXPECT_EQ(volumes.pixels(), 210);
  EXPECT_EQ(volumes.count(), 2310);
  EXPECT_EQ(to_string(volumes), "2x5x3x7x11");
  EXPECT_NE(volumes, (Shape{.n = 2, .d = 1, .h = 3, .w = 7, .c = 11}));
}

TEST(Shape, IsGivenByNameOnly) {
  EXPECT_EQ(Shape::images(2, 3, 4, 5), (Shape{.n = 2, .d = 1, .h = 3, .w = 4, .c = 5}));
  EXPECT_EQ(Shape::sequences(2, 7, 5), (Shape{.n = 2, .d = 1, .h = 7, .w = 1, .c = 5}));
  EXPECT_EQ(Shape::vectors(2, 5), (Shape{.n = 2, .d = 1, .h = 1, .w = 1, .c = 5}));
  static_assert(!std::is_constructible_v<Shape, int, int, int, int> && !std::is_constructible_v<Shape, int>);
  static_assert(std::is_trivially_copyable_v<Shape> && sizeof(Shape) == 5 * sizeof(std::int64_t));
}

TEST(ImageShape, BecomesABatchOfItself) {
  const ImageShape image = {.h = 28, .w = 30, .c = 3};
  EXPECT_EQ(image.count(), 2520);
  EXPECT_EQ(image.batch(5), (Shape{.n = 5, .h = 28, .w = 30, .c = 3}));
  EXPECT_EQ(to_string(image), "28x30x3");
}

TEST(ArrayShape, HasItsChannelsLast) {
  const std::vector<std::int64_t> dims = {5, 3, 7, 11};
  EXPECT_EQ(array_shape(std::span(dims).last(1)), Shape::vectors(1, 11));
  EXPECT_EQ(array_shape(std::span(dims).last(2)), Shape::sequences(1, 7, 11));
  EXPECT_EQ(array_shape(std::span(dims).last(3)), Shape::images(1, 3, 7, 11));
  EXPECT_EQ(array_shape(dims), (Shape{.n = 1, .d = 5, .h = 3, .w = 7, .c = 11}));
  const std::vector<std::int64_t> none, five(5, 1);
  EXPECT_CONTAINS(test::message_of<Error>([&] { array_shape(none); }), "has 0 dimensions, and not 1 to 4");
  EXPECT_CONTAINS(test::message_of<Error>([&] { array_shape(five); }), "has 5 dimensions");
}

TEST(ArrayShapes, AreFoundByNameAndTheOnlyOneWithRowsAndColumnsAsAnImage) {
  const ArrayShapes one{{{"patch", Shape::images(1, 8, 6, 7)}}};
  EXPECT_EQ(one.find("patch"), &one.inputs[0]);
  EXPECT_EQ(one.find("image"), &one.inputs[0]);
  EXPECT_EQ(one.find("label"), nullptr);
  const ArrayShapes two{
      {{"spectrum", Shape::vectors(1, 1024)}, {"image", Shape{.n = 1, .d = 2, .h = 8, .w = 6, .c = 7}}}};
  EXPECT_EQ(two.find("image"), &two.inputs[1]);
  const ArrayShapes others{{two.inputs[0], one.inputs[0]}};
  EXPECT_EQ(others.find("image"), nullptr);
  for (const Shape& shape :
       {Shape::vectors(1, 8), Shape::sequences(1, 8, 6), Shape{.n = 1, .d = 2, .h = 8, .w = 6, .c = 7}})
    EXPECT_EQ((ArrayShapes{{{"patch", shape}}}.find("image")), nullptr) << to_string(shape);
  EXPECT_EQ(to_string(InputShape(two)), "spectrum (1024), image (2, 8, 6, 7)");
  EXPECT_STREQ(kind_of(InputShape(two)), "arrays");
}

TEST(RoundUp, GivesTheNextMultipleAndKeepsMultiples) {
  EXPECT_EQ(round_up(0, 16), 0);
  EXPECT_EQ(round_up(1, 16), 16);
  EXPECT_EQ(round_up(16, 16), 16);
  EXPECT_EQ(round_up(17, 16), 32);
}

}  // namespace
}  // namespace convoy
