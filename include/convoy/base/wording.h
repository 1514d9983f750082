/// Counts and measured numbers as they are written in sentences and tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace convoy {

/// "1 step", "2 steps", "0 batches": the plural is made by the rules of English, for words that have a regular one.
std::string counted(std::int64_t count, std::string_view one);

/// "step 4", "steps 4 to 6".
std::string counted_range(std::int64_t first, std::int64_t last, std::string_view one);

/// From the first to the last.
using NumberRange = std::pair<std::int64_t, std::int64_t>;
/// "3 to 7, 9"; after four ranges "...".
std::string shown_ranges(const std::vector<NumberRange>& ranges);

/// The number with at least `digits` significant digits and never with an exponent, unless it is below 10^-6 or above
/// 10^15: "30313", "12.35", "0.0123". Not a number is "nan", whatever its sign.
std::string plain_number(double value, int digits = 4);

/// Number of letters of UTF-8.
std::int64_t num_letters(std::string_view text);

/// The line where it has at most `columns` letters of UTF-8; else its beginning and `ellipsis` (of one letter, or of
/// three points), that many in all.
std::string cut_to(std::string_view line, int columns, std::string_view ellipsis = "...");

}  // namespace convoy
