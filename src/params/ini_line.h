/// A line of a parameter file: where its comment begins, and how a value is quoted so that it comes back as it was.
#pragma once

#include <string>
#include <string_view>

namespace convoy::params {

/// Where the comment begins: the first '#' or ';' from `from` on that begins the line or follows a blank; the line's
/// size where there is none.
std::size_t comment_begin(std::string_view line, std::size_t from = 0);

/// The value from `from` on, without its comment and without blanks at either end. In quotes, "..." or '...', it keeps
/// all that stands between them; two quotes stand for one. Throws RequestError, naming `where` and the line, where a
/// quote is not closed or text follows it.
std::string read_value(std::string_view line, std::size_t from, const std::string& where);

/// The text that read_value() takes back to `value`: in quotes where it needs them.
std::string write_value(const std::string& value);

}  // namespace convoy::params
