/// Formats counts and measured numbers for sentences and tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace convoy {

/// Returns a count with its noun: "1 step", "2 steps", "0 batches". `one` is the singular of a regular English noun.
std::string counted(std::int64_t count, std::string_view one);

/// Returns the first `count` of the names: "a, b, c, ..."; all of them, without the points, if there are no more.
std::string first_few(const std::vector<std::string>& names, std::size_t count);

/// Returns a range with its noun: "step 4", "steps 4 to 6". `one` is the singular of the noun.
std::string counted_range(std::int64_t first, std::int64_t last, std::string_view one);

/// First and last number of a range, both included.
using NumberRange = std::pair<std::int64_t, std::int64_t>;
/// Returns the ranges as text: "3 to 7, 9"; after four ranges ", ...".
std::string shown_ranges(const std::vector<NumberRange>& ranges);

/// Returns the number with at least `digits` significant digits, without zeros at the end of its fraction: "30313",
/// "12.35", "0.0123". It has an exponent only if it is below 10^-6, or 10^15 and above. Not a number is "nan", whatever
/// its sign.
std::string plain_number(double value, int digits = 4);

/// Returns the number of characters of a UTF-8 text.
std::int64_t num_letters(std::string_view text);

/// Returns the line if it has at most `columns` characters of UTF-8; else its beginning followed by `ellipsis` (one
/// character, or three points), `columns` characters in all.
std::string cut_to(std::string_view line, int columns, std::string_view ellipsis = "...");

}  // namespace convoy
