/// What errors say, looked at by tests.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace convoy::test {

inline constexpr const char* kNothingThrown = "(nothing was thrown)";

/// What a call of `action` says when it throws an Exception; kNothingThrown when it throws nothing. Anything else that
/// is thrown fails the test.
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

/// A std::string has this part.
#define EXPECT_CONTAINS(text, part) EXPECT_PRED_FORMAT2(convoy::test::has_part, text, part)
