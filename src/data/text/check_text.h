/// What is taken for a text, or for the name of a class, at all.
#pragma once

#include <cstdint>
#include <string_view>

namespace convoy {

/// Longer ones are no reviews: a dump, or many texts in one file.
inline constexpr std::int64_t kMaxTextBytes = std::int64_t{1} << 20;

/// The text without a byte order mark. Throws Error saying what is wrong with it ("it is ..."): it is empty, longer
/// than kMaxTextBytes, binary, or not UTF-8.
std::string_view check_text(std::string_view bytes);

/// The longest name of a class that a table may have. Names are stored padded to the longest.
inline constexpr std::int64_t kMaxClassBytes = 1000;

/// Whether there are no letters but spaces.
bool is_blank(std::string_view text);

/// Throws Error saying what is wrong with it ("it has no class"): it is blank, longer than kMaxClassBytes, has a
/// control character, or is not UTF-8.
void check_class_name(std::string_view name);

/// What to do with a table that is in another encoding.
inline constexpr const char* kConvertToUtf8 =
    "Convert the file, for example: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW_FILE";

/// Position of the first byte that does not belong to a character in UTF-8; -1 where all do.
std::int64_t find_not_utf8(std::string_view bytes);

/// Throws Error where that many bytes are too many.
void check_text_size(std::int64_t bytes);

}  // namespace convoy
