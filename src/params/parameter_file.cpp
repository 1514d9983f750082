/// Reads and writes parameter files: INI text, read line by line, so that every message can name its line, and written
/// with the meaning of each key.
#include "params/parameter_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include <fmt/core.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/params/parse.h"

#include "params/key_table.h"
#include "params/validate.h"

namespace convoy::params {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBlanks = " \t\r\n", kCommentMarks = "#;", kQuotes = "\"'";

bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

/// The index at which the comment begins: the first '#' or ';' from `from` on that begins the line or follows a blank;
/// the line's size if there is no comment.
std::size_t comment_begin(std::string_view line, std::size_t from = 0) {
  for (std::size_t at = from; at < line.size(); ++at)
    if (is_one_of(line[at], kCommentMarks) && (at == 0 || is_one_of(line[at - 1], kBlanks))) return at;
  return line.size();
}

/// The value from `from` on, without its comment and without blanks at either end. In quotes, "..." or '...', it is
/// kept whole, and two quotes mean one. Throws RequestError, naming `where` and the line, if a quote is not closed or
/// text follows it.
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
    if (is_quote) ++at;  // two of them mean one
    value += line[at];
  }
  if (at == line.size())
    refuse("{}: {}: the value begins with {} and has no {} at its end.", where, shown(line), quote, quote);
  const std::string rest = trimmed(line.substr(at + 1));
  if (!rest.empty() && !is_one_of(rest.front(), kCommentMarks))
    refuse("{}: {}: {} follows the quoted value. Quote the whole value, or none of it.", where, shown(line),
           shown(rest));
  return value;
}

/// The text from which read_value() gives `value` again: in quotes if it needs them.
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

std::string without_comment(const std::string& line) {
  return trimmed(line.substr(0, comment_begin(line)));
}

/// Reads the name of a section: "[batch]" and "[Batch]" give "batch".
std::string read_section(const std::string& line, const std::string& where) {
  const bool closed = line.back() == ']';
  std::string name = lower_case(trimmed(line.substr(1, line.size() - (closed ? 2 : 1))));
  const bool known = std::find(sections().begin(), sections().end(), name) != sections().end();
  if (!closed) refuse("{}: {}: the section has no ']'.{}", where, shown(line), nearest_hint(name, sections()));
  if (!known) {
    refuse("{}: {}: there is no such section.{} Sections: {}.", where, shown(line), nearest_hint(name, sections()),
           join(sections()));
  }
  return name;
}

/// A hint for a line such as "global 128", which was probably meant to be "global = 128".
std::string missing_equals_hint(const std::string& line, const std::string& section) {
  const std::size_t blank = line.find_first_of(" \t:");
  const std::string leaf = line.substr(0, blank);
  const std::string value = blank == std::string::npos ? "VALUE" : trimmed(line.substr(blank + 1));
  return find_key(section + "." + leaf) ? fmt::format(" Nearest: {} = {}.", leaf, value) : "";
}

/// Reads an assignment: "global = 128" in section "batch" gives batch.global.
Given read_assignment(const std::string& line, const std::string& section, const std::string& where) {
  const std::size_t equals = line.find('=');
  if (equals > comment_begin(line)) {  // also if there is no '='
    const std::string content = without_comment(line);
    refuse("{}: {}: neither [section] nor key = value.{} Comments begin with # or ;.", where, shown(content),
           missing_equals_hint(content, section));
  }
  const std::string name = (section.empty() ? "" : section + ".") + trimmed(line.substr(0, equals));
  const Key* const key = find_key(name);
  return {.key = key ? key->name : name,
          .value = read_value(line, equals + 1, where),
          .where = where,
          .written_key = lower_case(name)};
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) refuse("{}: the parameter file cannot be read: {}.", path, std::strerror(errno));
  return text;
}

/// A hint that names the parameter file in the same folder with the nearest name.
std::string nearest_file_hint(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == path.extension()) names.push_back(entry->path().filename().string());
  }
  return nearest_hint(path.filename().string(), names);
}

}  // namespace

std::string ParameterBuilder::source_of(const std::string& key) const {
  const auto found = where.find(key);
  return found == where.end() ? "default" : found->second;
}

bool ParameterBuilder::attempt(const std::function<void()>& work) {
  if (!collects) {
    work();
    return true;
  }
  try {
    work();
    return true;
  } catch (const RequestError& error) {
    problems.emplace_back(error.what());
    return false;
  }
}

void assign(ParameterBuilder& builder, const Given& given) {
  const Key* const key = find_key(given.key);
  if (!key) {
    refuse("{}: {} = {}: there is no such key.{}", given.where, shown(given.key), shown(given.value),
           key_hint(given.key));
  }
  Given known = given;
  known.unit = key->unit;
  known.allowed = key->value.allowed;
  key->value.read(known, builder.values);
  builder.where[given.key] = given.where;
  // Files that Convoy wrote hold all keys: those with their default value were not chosen by anyone.
  if (!key->former_name.empty() && given.written_key == key->former_name && given.value != key->default_text())
    builder.renamed.push_back(fmt::format("{}: {} is now called {}: use the new name. The former one is still read",
                                          given.where, key->former_name, key->name));
}

void assign_text(ParameterBuilder& builder, const std::string& text, const std::string& where) {
  if (text.find('\0') != std::string::npos)
    refuse("{}: this is not a text file, but a parameter file is expected.", where);
  std::istringstream lines(text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text);
  std::map<std::string, std::string> seen;  // key, file and line
  std::string section, line;
  bool is_known_section = true;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string here = fmt::format("{}:{}", where, number);
    const std::string content = trimmed(line);
    if (content.empty() || comment_begin(content) == 0) continue;
    if (content.front() == '[') {
      is_known_section = builder.attempt([&] { section = read_section(without_comment(content), here); });
      continue;
    }
    if (!is_known_section) continue;  // the section was reported, not its keys
    builder.attempt([&] {
      const Given given = read_assignment(content, section, here);
      if (const auto [before, is_new] = seen.emplace(given.key, here); !is_new) {
        refuse("{}: {} = {}: the key is given twice, first at {}. Keep one.", here, given.key, shown(given.value),
               before->second);
      }
      assign(builder, given);
    });
  }
}

void assign_file(ParameterBuilder& builder, const std::string& path) {
  if (const auto defect = find_defect(path)) refuse("{}: {}.", shown(path), *defect);
  std::error_code error;
  if (fs::is_directory(path, error)) {
    refuse("{}: a folder, but a parameter file is expected (*.cfg, *.ini).", path);
  }
  // An open pipe, such as the shell's <(COMMAND), has no path of its own.
  if (fs::is_fifo(fs::symlink_status(path, error))) {
    refuse("{}: a named pipe, but a parameter file is expected (*.cfg, *.ini).", path);
  }
  if (!fs::exists(path, error)) refuse("{}: there is no such parameter file.{}", path, nearest_file_hint(path));
  assign_text(builder, read_file(path), path);
}

}  // namespace convoy::params

namespace convoy {

std::string render(const Parameters& params) {
  constexpr int kCommentColumn = 28;  // except after longer values
  std::string text = "# Convoy: all parameters that are in effect.\n";
  std::string section;
  for (const params::Key& key : params::keys()) {
    if (key.section() != section) {
      section = key.section();
      text += fmt::format("\n[{}]\n", section);
    }
    const std::string assignment = fmt::format("{} = {}", key.leaf(), params::write_value(key.value.write(params)));
    const std::string unit = key.unit.empty() ? "" : fmt::format(" [{}]", key.unit);
    text += fmt::format("{:<{}}  # {}{}\n", assignment, kCommentColumn, key.sentence, unit);
  }
  return text;
}

namespace {

std::string shown_value(const params::Key& key, const Parameters& params) {
  const std::string value = key.value.write(params);
  return value.empty() ? "(empty)" : value;
}

}  // namespace

bool is_key(const std::string& name) {
  return params::find_key(name) != nullptr;
}

std::string shown_value(const std::string& key, const Parameters& params) {
  const params::Key* const known = params::find_key(key);
  return known ? shown_value(*known, params) : "";
}

std::vector<KeyChange> changed_keys(const Parameters& before, const Parameters& after) {
  std::vector<KeyChange> changes;
  for (const params::Key& key : params::keys()) {
    const std::string from = shown_value(key, before), to = shown_value(key, after);
    if (from != to)
      changes.push_back({.key = key.name, .before = from, .after = to, .changes_result = key.changes_result});
  }
  return changes;
}

}  // namespace convoy
