/// Parameter files: INI text, a line at a time, so that every complaint can name its line.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

#include "params/draft.h"
#include "params/ini_line.h"
#include "params/key_table.h"
#include "params/paths.h"

namespace convoy::params {

namespace {

namespace fs = std::filesystem;

std::string without_comment(const std::string& line) {
  return trimmed(line.substr(0, comment_begin(line)));
}

/// "[batch]" and "[Batch]" give "batch".
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

/// "global 128" was probably meant to be "global = 128".
std::string missing_equals_hint(const std::string& line, const std::string& section) {
  const std::size_t blank = line.find_first_of(" \t:");
  const std::string leaf = line.substr(0, blank);
  const std::string value = blank == std::string::npos ? "VALUE" : trimmed(line.substr(blank + 1));
  return find_key(section + "." + leaf) ? fmt::format(" Nearest: {} = {}.", leaf, value) : "";
}

/// "global = 128" in section "batch" gives batch.global.
Given read_assignment(const std::string& line, const std::string& section, const std::string& where) {
  const std::size_t equals = line.find('=');
  if (equals > comment_begin(line)) {  // or there is none
    const std::string content = without_comment(line);
    refuse("{}: {}: neither [section] nor key = value.{} Comments begin with # or ;.", where, shown(content),
           missing_equals_hint(content, section));
  }
  const std::string name = (section.empty() ? "" : section + ".") + trimmed(line.substr(0, equals));
  const Key* const key = find_key(name);
  return {.key = key ? key->name : name, .value = read_value(line, equals + 1, where), .where = where, .unit = ""};
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) refuse("{}: the parameter file cannot be read: {}.", path, std::strerror(errno));
  return text;
}

/// The parameter file of that folder whose name is nearest.
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

void assign_text(Draft& draft, const std::string& text, const std::string& where) {
  if (text.find('\0') != std::string::npos) refuse("{}: no text, where a parameter file is wanted.", where);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // what some editors put before the first line
  std::istringstream lines(text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text);
  std::map<std::string, std::string> seen;  // key, where
  std::string section, line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string here = fmt::format("{}:{}", where, number);
    const std::string content = trimmed(line);
    if (content.empty() || comment_begin(content) == 0) continue;
    if (content.front() == '[') {
      section = read_section(without_comment(content), here);
      continue;
    }
    const Given given = read_assignment(content, section, here);
    if (const auto [before, is_new] = seen.emplace(given.key, here); !is_new) {
      refuse("{}: {} = {}: the key is given twice, at {} already. Keep one.", here, given.key, shown(given.value),
             before->second);
    }
    assign(draft, given);
  }
}

void assign_file(Draft& draft, const std::string& path) {
  if (const auto defect = find_defect(path)) refuse("{}: {}.", shown(path), *defect);
  std::error_code error;
  if (fs::is_directory(path, error)) {
    refuse("{}: a folder, where a parameter file is wanted (*.cfg, *.ini).", path);
  }
  // An open one, as the shell makes of <(COMMAND), has no path of its own.
  if (fs::is_fifo(fs::symlink_status(path, error))) {
    refuse("{}: a named pipe, where a parameter file is wanted (*.cfg, *.ini).", path);
  }
  if (!fs::exists(path, error)) refuse("{}: there is no such parameter file.{}", path, nearest_file_hint(path));
  assign_text(draft, read_file(path), path);
}

}  // namespace convoy::params
