/// Checks whether bytes are accepted as a text, or as the name of a class.
#pragma once

#include <cstdint>
#include <string_view>

namespace convoy {

/// Largest size of a text in bytes. A longer text is probably not a single one, but a file with many texts.
inline constexpr std::int64_t kMaxTextBytes = std::int64_t{1} << 20;

/// Returns the text without a byte order mark. Throws Error with a reason ("it is ...") if it is empty, longer than
/// kMaxTextBytes, binary, or not UTF-8.
std::string_view check_text(std::string_view bytes);

/// Largest size in bytes of the name of a class in a table. All names are stored padded to the longest.
inline constexpr std::int64_t kMaxClassBytes = 1000;

/// Returns whether the text is empty or consists of spaces only.
bool is_blank(std::string_view text);

/// Throws Error with a reason ("it has no class") if the name is blank, longer than kMaxClassBytes, has a control
/// character, or is not UTF-8.
void check_class_name(std::string_view name);

/// The advice in messages about a table that is not in UTF-8.
inline constexpr const char* kConvertToUtf8 =
    "Convert the file, for example: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW_FILE";

/// Returns the index of the first byte that is not part of a valid UTF-8 character; -1 if there is none.
std::int64_t find_not_utf8(std::string_view bytes);

/// Throws Error with a reason if `bytes`, the size of a text, is larger than kMaxTextBytes.
void check_text_size(std::int64_t bytes);

}  // namespace convoy
