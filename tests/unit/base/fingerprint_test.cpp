/// A fingerprint is a sum that does not depend on how values are cut, and that every change of a value changes.
#include "convoy/base/fingerprint.h"

#include <bit>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/random.h"

namespace convoy {
namespace {

std::vector<float> some_values(std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(random_normal({.item = 3}, i)));
  return values;
}

TEST(Fingerprint, DoesNotDependOnHowATensorIsCut) {
  const auto values = some_values(1000);
  const std::span<const float> all = values;
  const std::uint64_t whole = fingerprint_part(7, {.values = all});
  std::uint64_t sum = 0;
  for (std::int64_t first = 990; first >= 0; first -= 10)
    sum += fingerprint_part(7, {.values = all.subspan(static_cast<std::size_t>(first), 10), .first = first});
  EXPECT_EQ(sum, whole);
  // Every third value, as if channels were neighbours in memory.
  std::uint64_t strided = 0;
  for (std::int64_t c = 0; c < 3; ++c) {
    std::vector<float> channel;
    for (std::size_t i = static_cast<std::size_t>(c); i < values.size(); i += 3) channel.push_back(values[i]);
    strided += fingerprint_part(7, {.values = channel, .first = c, .stride = 3});
  }
  EXPECT_EQ(strided, whole);
}

TEST(Fingerprint, ChangesWithEachBitIndexAndName) {
  const auto values = some_values(64);
  std::set<std::uint64_t> seen = {fingerprint_part(7, {.values = values}), fingerprint_part(8, {.values = values}),
                                  fingerprint_part(7, {.values = values, .first = 1})};
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (int bit = 0; bit < 32; ++bit) {
      auto changed = values;
      changed[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(values[i]) ^ (std::uint32_t{1} << bit));
      seen.insert(fingerprint_part(7, {.values = changed}));
    }
  }
  auto swapped = values;
  std::swap(swapped[3], swapped[4]);
  seen.insert(fingerprint_part(7, {.values = swapped}));
  EXPECT_EQ(seen.size(), 3 + 64 * 32 + 1u);
}

TEST(Fingerprint, TellsMinusZeroFromZeroAndIsWrittenInSixteenDigits) {
  const std::vector<float> zero = {0.0F}, minus = {-0.0F};
  EXPECT_NE(fingerprint_part(1, {.values = zero}), fingerprint_part(1, {.values = minus}));
  EXPECT_EQ(fingerprint_part(1, {.values = std::span<const float>()}), 0u);
  EXPECT_EQ(fingerprint_text(0xabcU), "0000000000000abc");
}

// Runs have recorded fingerprints, so they must never change.
TEST(Fingerprint, StaysWhatItIs) {
  const std::vector<float> values = {0.0F, 1.0F, -2.5F};
  EXPECT_EQ(fingerprint_text(fingerprint_part(hash_name("fc.weight"), {.values = values})), "4c3dc4ac1397db33");
}

}  // namespace
}  // namespace convoy
