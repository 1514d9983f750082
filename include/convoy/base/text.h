/// Formats numbers and names as text for people.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace convoy {

/// Returns a number of bytes with its unit: "512 B", "1.5 KiB", "97.7 MiB".
std::string human_bytes(std::int64_t bytes);

/// Returns a count in thousands, millions ...: "950", "272.5 k", "25.6 M", "4.1 G".
std::string human_count(std::int64_t count);

/// Returns a duration as text: "42 s", "3 min 05 s", "2 h 10 min"; "?" if it is negative, NaN or above 10^9 s.
std::string human_seconds(double seconds);

/// Returns a name or text from a file in one line, to be quoted in a message: at most 200 characters, then "...".
/// Control characters, marks that change the direction of writing, and bytes that are not UTF-8 are escaped, as \n and
/// \x1b.
std::string excerpt(std::string_view content);

/// Returns the text made safe for a terminal: control characters other than line ends and tabs, marks that change the
/// direction of writing, and bytes that are not UTF-8 are escaped, as \x1b.
std::string printable(std::string_view text);

/// Throws Error if a name from a file holds characters that printable() or excerpt() would escape: it is damaged, or
/// made to look like another name. `what` is its description in the message: "the name of a class".
void check_is_name(std::string_view name, const char* what);

/// Some editors write these bytes before the first line of a UTF-8 file.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Returns the text with A to Z replaced by lower-case letters.
std::string lower_case(std::string_view text);

/// Returns the text without the blanks and tabs at its beginning and end.
inline std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Returns the number that the text is; nothing if it is not one number as a whole, or does not fit the type.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Returns the candidate that `word` most likely meant: one at edit distance 0 or 1 (0 if the word has only one byte);
/// else the first that begins with `word`; else the one with the smallest edit distance, at most half of the word's
/// length. Of several at the same distance, it is the first. Empty if there is none, or if `word` is empty.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// Returns the text as a field of a CSV row: quoted if it holds a comma, a quote or a line's end. If a spreadsheet
/// would take it for a formula (it begins with =, +, - or @ and is no number), an apostrophe is put before it, which
/// makes spreadsheets read it as text.
std::string csv_field(std::string_view text);
/// Returns the field without the apostrophe that csv_field() puts before a formula, if it has one.
std::string_view without_apostrophe(std::string_view field);

}  // namespace convoy
