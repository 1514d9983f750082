/// Numbers and names as text for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

/// A number of bytes with its unit: "512 B", "1.5 KiB", "97.7 MiB".
std::string human_bytes(std::int64_t bytes);

/// A number in thousands, millions ...: "950", "272.5 k", "25.6 M", "4.1 G".
std::string human_count(std::int64_t count);

/// A duration: "42 s", "3 min 05 s", "2 h 10 min"; "?" if it is negative or not known.
std::string human_seconds(double seconds);

/// A foreign name or text in one line, to be quoted in a message: at most 200 characters, then "...". Control
/// characters, marks that turn the direction of writing, and what is not UTF-8 are made visible, as \n and \x1b.
std::string excerpt(std::string_view content);

/// The text made safe for a terminal: control characters other than line ends and tabs, marks that turn the direction
/// of writing, and what is not UTF-8 are made visible, as \x1b.
std::string printable(std::string_view text);

/// Throws Error if a name in a file holds what printable() or excerpt() would make visible: it is damaged, or made to
/// look like something else. `what` is its description in the message: "the name of a class".
void check_is_name(std::string_view name, const char* what);

/// The text with A to Z replaced by small letters.
std::string lower_case(std::string_view text);

/// The candidate that `word` most likely meant: one at edit distance 0 or 1; else the first that begins with `word`;
/// else the one with the smallest edit distance, at most half of the word's length. Empty if none is that near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// The text as a field of a CSV row: quoted if it holds a comma, a quote or a line's end. If a spreadsheet would take
/// it for a formula (=, +, -, @ at the front, and no number), an apostrophe is put before it, which spreadsheets read
/// as "text".
std::string csv_field(std::string_view text);
/// The field without an apostrophe that csv_field() has put before a formula.
std::string_view without_apostrophe(std::string_view field);

}  // namespace convoy
