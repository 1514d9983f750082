/// Tensors compared to the last bit: -0 is not 0, and a NaN equals itself.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/io/named_tensor.h"

namespace convoy::test {

/// Whether names, shapes and all bits of the values are equal.
inline bool same_bits(const io::NamedTensor& a, const io::NamedTensor& b) {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  return a.name == b.name && a.dims == b.dims && std::ranges::equal(a.values, b.values, std::equal_to{}, bits, bits);
}

inline void expect_same_bits(const std::vector<io::NamedTensor>& got, const std::vector<io::NamedTensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_TRUE(same_bits(got[i], want[i])) << got[i].name << ", wanted " << want[i].name;
}

}  // namespace convoy::test
