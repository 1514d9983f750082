/// Texts are appended whole, so that rows of other threads do not cut into them. Tables are read line by line, and
/// compared with the steps that they must have.
#include "telemetry/log_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/io/atomic_file.h"

namespace convoy {

namespace {

FileDescriptor open_to_append(const std::string& path, const std::string& text) {
  io::write_text_atomically(path, text);
  return FileDescriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
}

struct Row {
  std::int64_t step = 0;
  std::string line;
};

std::ptrdiff_t commas_in(std::string_view line) {
  return std::count(line.begin(), line.end(), ',');
}

// Returns the step in that column of the line, which has at least `column` commas.
std::optional<std::int64_t> step_in(std::string_view line, std::ptrdiff_t column) {
  for (; column > 0; --column) line.remove_prefix(line.find(',') + 1);
  return parse_number<std::int64_t>(line.substr(0, line.find(',')));
}

// Whether the line is this table's header: the present one, an older one with fewer columns, or one with the old name
// images_per_second.
bool is_header(std::string line, std::string_view header) {
  constexpr std::string_view kOldName = ",images_per_second,";
  if (const std::size_t at = line.find(kOldName); at != std::string::npos)
    line.replace(at, kOldName.size(), ",samples_per_second,");
  return !line.empty() && header.starts_with(line) && (line.size() == header.size() || header[line.size()] == ',');
}

std::vector<Row> rows_up_to(std::string_view text, const LogColumns& columns, std::int64_t last_step) {
  std::vector<Row> rows;
  const std::ptrdiff_t commas_now = commas_in(columns.header);
  std::ptrdiff_t commas = commas_now;
  for (const std::string_view line : whole_lines(text)) {
    if (is_header(std::string(line), columns.header)) {
      commas = commas_in(line);
      continue;
    }
    if (commas_in(line) != commas || commas < columns.step_column) continue;  // or there is no step
    const auto step = step_in(line, columns.step_column);
    const std::int64_t before = rows.empty() ? 0 : rows.back().step;
    const bool is_next = step && (*step > before || !columns.is_sorted);
    if (is_next && *step <= last_step)
      rows.push_back({*step, std::string(line) + std::string(static_cast<std::size_t>(commas_now - commas), ',')});
  }
  return rows;
}

std::vector<std::int64_t> steps_of(const ExpectedRows& expected, const std::vector<Row>& rows) {
  std::int64_t first = expected.first;
  if (first == 0) first = rows.empty() ? expected.last + 1 : rows.front().step;
  std::vector<std::int64_t> steps;
  for (std::int64_t k = (first + expected.every - 1) / expected.every; k * expected.every < expected.last; ++k)
    steps.push_back(k * expected.every);
  if (expected.last >= first) steps.push_back(expected.last);
  return steps;
}

std::string describe_lost(const std::string& path, const std::vector<Row>& rows,
                          const std::vector<std::int64_t>& expected) {
  std::vector<NumberRange> lost;
  std::size_t num_lost = 0;
  bool previous_is_lost = false;
  auto row = rows.begin();
  for (const std::int64_t step : expected) {
    row = std::find_if(row, rows.end(), [&](const Row& candidate) { return candidate.step >= step; });
    const bool is_lost = row == rows.end() || row->step != step;
    if (is_lost && previous_is_lost) lost.back().second = step;
    if (is_lost && !previous_is_lost) lost.emplace_back(step, step);
    if (is_lost) ++num_lost;
    previous_is_lost = is_lost;
  }
  if (num_lost == 0) return "";
  return fmt::format(
      "{} has lost {} of the {} rows that this run wrote before: those of step {}. The file was removed or changed "
      "since then. The run continues without these rows",
      path, num_lost, expected.size(), shown_ranges(lost));
}

}  // namespace

LogFile::LogFile(std::string path, FileDescriptor file, double max_wait_seconds)
    : path_(std::move(path)), file_(std::move(file)), max_wait_seconds_(max_wait_seconds) {
  if (!file_.is_open()) check(errno);
}

LogFile::LogFile(const std::string& path, const std::string& text, double max_wait_seconds)
    : LogFile(path, open_to_append(path, text), max_wait_seconds) {}

LogFile::~LogFile() {
  std::string_view rest = waiting_;
  append(rest);
}

void LogFile::add(std::string_view text, double now) {
  waiting_ += text;
  if (first_waiting_seconds_ == 0) first_waiting_seconds_ = now;
  if (now - first_waiting_seconds_ >= max_wait_seconds_) write();
}

void LogFile::write() {
  std::string_view rest = waiting_;
  const int error_number = append(rest);
  waiting_.erase(0, waiting_.size() - rest.size());  // no byte is written twice
  check(error_number);
  first_waiting_seconds_ = 0;
}

void LogFile::sync() const {
  if (fsync(file_.get()) != 0) check(errno);
}

int LogFile::append(std::string_view& text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(file_.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

void LogFile::check(int error_number) const {
  if (error_number != 0)
    fail("cannot write {}: {}. Make room or choose another run.directory", path_, std::strerror(error_number));
}

std::vector<std::string_view> whole_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    lines.push_back(text.substr(0, end));
  return lines;
}

KeptRows keep_rows(const std::string& path, std::string_view text, const LogColumns& columns, std::int64_t last_step,
                   const ExpectedRows& expected) {
  const std::vector<Row> rows = rows_up_to(text, columns, last_step);
  KeptRows kept{.text = "", .lost = describe_lost(path, rows, steps_of(expected, rows))};
  for (const Row& row : rows) kept.text += row.line + '\n';
  return kept;
}

}  // namespace convoy
