/// The messages of errors, for tests.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace convoy::test {

inline constexpr const char* kNothingThrown = "(nothing was thrown)";

/// The message of the Exception that a call of `action` throws; kNothingThrown if it throws nothing. Any other
/// exception fails the test.
template <typename Exception, typename Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return kNothingThrown;
}

inline ::testing::AssertionResult has_part(const char*, const char*, std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << part << "' is not in\n" << text;
}

}  // namespace convoy::test

/// Expects that a std::string contains this part.
#define EXPECT_CONTAINS(text, part) EXPECT_PRED_FORMAT2(convoy::test::has_part, text, part)
