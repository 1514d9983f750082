/// Comments and quotes.
#include "params/ini_line.h"

#include <fmt/format.h>

#include "convoy/base/error.h"

#include "params/value.h"

namespace convoy::params {

namespace {

constexpr std::string_view kBlanks = " \t\r\n", kCommentMarks = "#;", kQuotes = "\"'";

bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

}  // namespace

std::size_t comment_begin(std::string_view line, std::size_t from) {
  for (std::size_t at = from; at < line.size(); ++at)
    if (is_one_of(line[at], kCommentMarks) && (at == 0 || is_one_of(line[at - 1], kBlanks))) return at;
  return line.size();
}

std::string read_value(std::string_view line, std::size_t from, const std::string& where) {
  const std::size_t begin = line.find_first_not_of(kBlanks, from);
  if (begin == std::string_view::npos) return "";
  const char quote = line[begin];
  if (!is_one_of(quote, kQuotes)) return trimmed(line.substr(from, comment_begin(line, from) - from));
  std::string value;
  std::size_t at = begin + 1;
  for (; at < line.size(); ++at) {
    const bool is_quote = line[at] == quote;
    if (is_quote && (at + 1 == line.size() || line[at + 1] != quote)) break;
    if (is_quote) ++at;  // two of them stand for one
    value += line[at];
  }
  if (at == line.size())
    refuse("{}: {}: the value begins with {} and has no {} at its end.", where, shown(line), quote, quote);
  const std::string rest = trimmed(line.substr(at + 1));
  if (!rest.empty() && !is_one_of(rest.front(), kCommentMarks))
    refuse("{}: {}: {} follows the quoted value. Quote all of the value, or nothing of it.", where, shown(line),
           shown(rest));
  return value;
}

std::string write_value(const std::string& value) {
  const std::string after_blank = " " + value;
  const bool is_safe = value == trimmed(value) && comment_begin(after_blank) == after_blank.size() &&
                       (value.empty() || !is_one_of(value.front(), kQuotes));
  if (is_safe) return value;
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace convoy::params
