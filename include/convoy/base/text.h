/// Numbers and names as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

/// "512 B", "1.5 KiB", "97.7 MiB".
std::string human_bytes(std::int64_t bytes);

/// "950", "272.5 k", "25.6 M", "4.1 G".
std::string human_count(std::int64_t count);

/// "42 s", "3 min 05 s", "2 h 10 min".
std::string human_seconds(double seconds);

/// What a message quotes of others' names and texts, in one line: at most 200 characters, with control characters,
/// marks that turn the direction of writing, and what is not UTF-8 made visible, as in \n and \x1b; the rest is "...".
std::string excerpt(std::string_view content);

/// As it may be shown on a terminal: all control characters but line ends and tabs, marks that turn the direction of
/// writing, and what is not UTF-8 are made visible, as in \x1b.
std::string printable(std::string_view text);

/// Throws Error where a name in a file (`what`: "the name of a class") holds what printable() or excerpt() would make
/// visible: it is damaged, or made to look like something else.
void check_is_name(std::string_view name, const char* what);

/// With small letters for A to Z.
std::string lower_case(std::string_view text);

/// The candidate that was most likely meant by `word`: one that a single slip away is nearest; then the first that
/// begins with it; then that with the smallest edit distance, at most half of the word. Else empty.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// As a field of a CSV row: in quotes where it holds a comma, a quote or a line's end. What a spreadsheet would take
/// for a formula (=, +, -, @ at the front, and no number) has an apostrophe before it, which spreadsheets read as
/// "text".
std::string csv_field(std::string_view text);
/// The text without such an apostrophe.
std::string_view without_apostrophe(std::string_view field);

}  // namespace convoy
