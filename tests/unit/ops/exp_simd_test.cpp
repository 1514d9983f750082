/// Powers of two in vectors, compiled with the flags of the CPU's operations.
#include "ops/cpu/attention/exp_simd.h"

#include <cmath>

#include <gtest/gtest.h>

namespace convoy {
namespace {

using ops::cpu::power_of_2;
using ops::cpu::Vec;

TEST(PowerOfTwo, IsExactForIntegersAndCloseForOthers) {
  for (int n = -125; n <= 127; ++n) ASSERT_EQ(power_of_2(Vec{} + static_cast<float>(n))[0], std::exp2(double(n)));
  for (double x = -125; x <= 127; x += 0.0078125) {
    const double want = std::exp2(x);
    ASSERT_NEAR(power_of_2(Vec{} + static_cast<float>(x))[0], want, 0x1p-22 * want) << x;  // 2 units in the last place
  }
  EXPECT_EQ(power_of_2(Vec{} - 200.0f)[0], 0x1p-125f);
}

// The lowest bits of a NaN would be added to the exponent of the result, which is then a number.
TEST(PowerOfTwo, KeepsEveryNan) {
  for (const std::uint32_t sign : {0u, 0x80000000u})
    for (std::uint32_t payload = 0; payload < 1024; ++payload)
      ASSERT_TRUE(std::isnan(power_of_2(Vec{} + std::bit_cast<float>(sign | 0x7fc00000u | payload))[0])) << payload;
}

}  // namespace
}  // namespace convoy
