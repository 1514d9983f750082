/// Writes text to standard output.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace convoy {

/// Writes printable(text) to standard output, so that names and texts from files cannot move the cursor, ring the bell
/// or change the direction of writing.
void print_text(std::string_view text);

template <typename... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  print_text(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace convoy
