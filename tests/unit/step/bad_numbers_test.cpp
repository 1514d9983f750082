/// What is not a finite number is counted in every type, and what several ranks found has one order.
#include "step/bad_numbers.h"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace convoy {
namespace {

using Kind = BadNumbers::Kind;

template <typename T>
NumberCount count(DataType type, const std::vector<T>& values) {
  return count_numbers(type, std::as_bytes(std::span(values)));
}

TEST(CountNumbers, FindsInfinitiesAndNaNInFloat32) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(count<float>(DataType::kFloat32, {1, -largest, infinity, nan, -infinity, 0}),
            (NumberCount{.num_values = 6, .num_bad = 3, .largest = static_cast<double>(largest)}));
  EXPECT_EQ(count<float>(DataType::kFloat32, {}), NumberCount());
}

TEST(CountNumbers, FindsThemInBfloat16) {
  // 1, -3, infinity, a NaN, the smallest NaN
  EXPECT_EQ(count<std::uint16_t>(DataType::kBfloat16, {0x3f80, 0xc040, 0x7f80, 0xffff, 0x7f81}),
            (NumberCount{.num_values = 5, .num_bad = 3, .largest = 3}));
}

TEST(CountNumbers, FindsThemInFloat16) {
  // The largest, its negative, infinity, a NaN
  EXPECT_EQ(count<std::uint16_t>(DataType::kFloat16, {0x7bff, 0xfbff, 0xfc00, 0x7e00}),
            (NumberCount{.num_values = 4, .num_bad = 2, .largest = 65504}));
  // The smallest above 0, and 1.5
  EXPECT_EQ(count<std::uint16_t>(DataType::kFloat16, {0x0001}).largest, 0x1p-24);
  EXPECT_EQ(count<std::uint16_t>(DataType::kFloat16, {0xbe00}).largest, 1.5);
}

TEST(CountNumbers, IntegersAreNeverBad) {
  EXPECT_EQ(count<std::int32_t>(DataType::kInt32, {0x7f800000, -1}), (NumberCount{.num_values = 2}));
}

TEST(SortedBadNumbers, DoNotDependOnWhoFoundThem) {
  const NumberCount one{.num_values = 4, .num_bad = 1, .largest = 2}, two{.num_values = 4, .num_bad = 2, .largest = 7};
  const std::vector<BadNumbers> found = {{.kind = Kind::kGradient, .cell = 1, .index = 0, .count = one},
                                         {.kind = Kind::kOutput, .micro_batch = 3, .cell = 2, .count = one},
                                         {.kind = Kind::kGradient, .cell = 4, .index = 1, .count = one},
                                         {.kind = Kind::kLoss, .micro_batch = 3, .loss = 9},
                                         {.kind = Kind::kOutput, .micro_batch = 1, .cell = 2, .count = one},
                                         {.kind = Kind::kGradient, .cell = 1, .index = 0, .count = two},
                                         {.kind = Kind::kParameter, .cell = 5, .count = one},
                                         {.kind = Kind::kOutput, .micro_batch = 5, .cell = 0, .count = one}};
  const std::vector<BadNumbers> expected = {
      {.kind = Kind::kParameter, .cell = 5, .count = one},
      {.kind = Kind::kOutput, .micro_batch = 5, .cell = 0, .count = one},
      {.kind = Kind::kOutput, .micro_batch = 1, .cell = 2, .count = one},
      {.kind = Kind::kOutput, .micro_batch = 3, .cell = 2, .count = one},
      {.kind = Kind::kLoss, .micro_batch = 3, .loss = 9},
      {.kind = Kind::kGradient, .cell = 4, .index = 1, .count = one},  // backward comes from the last cell
      {.kind = Kind::kGradient, .cell = 1, .index = 0, .count = {.num_values = 8, .num_bad = 3, .largest = 7}}};
  EXPECT_EQ(sorted(found), expected);
  EXPECT_EQ(sorted({found.rbegin(), found.rend()}), expected);
}

}  // namespace
}  // namespace convoy
