/// Standard output.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace convoy {

/// Writes printable() of the text: names and texts of others cannot move the cursor, ring or turn the line around.
void print_text(std::string_view text);

template <typename... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  print_text(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace convoy
