/// What errors say, looked at by tests.
#pragma once

#include <string>

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

}  // namespace convoy::test

/// A std::string has this part.
#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)
