/// What is taken for a text at all.
#pragma once

#include <cstdint>
#include <string_view>

namespace convoy {

/// Longer ones are no reviews: a dump, or many texts in one file.
inline constexpr std::int64_t kMaxTextBytes = std::int64_t{1} << 20;

/// The text without a byte order mark. Throws Error saying what is wrong with it ("it is ..."): it is empty, longer
/// than kMaxTextBytes, binary, or not UTF-8.
std::string_view check_text(std::string_view bytes);

/// Throws Error where that many bytes are too many.
void check_text_size(std::int64_t bytes);

}  // namespace convoy
