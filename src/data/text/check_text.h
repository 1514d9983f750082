/// Checks what is accepted as a text, or as the name of a class.
#pragma once

#include <cstdint>
#include <string_view>

namespace convoy {

/// Longest text in bytes. Longer ones are not single texts: a dump, or many texts in one file.
inline constexpr std::int64_t kMaxTextBytes = std::int64_t{1} << 20;

/// Returns the text without a byte order mark. Throws Error with a reason ("it is ...") if it is empty, longer than
/// kMaxTextBytes, binary, or not UTF-8.
std::string_view check_text(std::string_view bytes);

/// Longest name in bytes that a class of a table may have. Names are stored padded to the longest.
inline constexpr std::int64_t kMaxClassBytes = 1000;

/// Whether the text has nothing but spaces.
bool is_blank(std::string_view text);

/// Throws Error with a reason ("it has no class") if the name is blank, longer than kMaxClassBytes, has a control
/// character, or is not UTF-8.
void check_class_name(std::string_view name);

/// What to do with a table in another encoding.
inline constexpr const char* kConvertToUtf8 =
    "Convert the file, for example: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW_FILE";

/// Returns the position of the first byte that does not belong to a character in UTF-8; -1 if all do.
std::int64_t find_not_utf8(std::string_view bytes);

/// Throws Error if a text of that many bytes is too long.
void check_text_size(std::int64_t bytes);

}  // namespace convoy
