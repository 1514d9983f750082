/// Lines are appended whole, so that warnings of other threads do not cut into them.
#include "telemetry/json_log.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"

namespace convoy {

namespace {

bool stays(std::string_view line, const JsonLog::Keep& keep) {
  const auto row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!row.is_object() || !row.contains("kind") || !row.contains("step") || !row["step"].is_number_integer())
    return false;
  return row["step"].get<std::int64_t>() <= (row["kind"] == "epoch" ? keep.epochs : keep.steps);
}

// 0, or errno where it failed.
int append(const FileDescriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

[[noreturn]] void fail_to_write(const std::string& path, int error_number) {
  fail("cannot write {}: {}. Make room or choose another run.directory", path, std::strerror(error_number));
}

}  // namespace

std::string keep_json_rows(std::string_view text, const JsonLog::Keep& keep) {
  std::string kept;
  if (keep.steps == 0) return kept;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    if (stays(text.substr(0, end), keep)) kept += text.substr(0, end + 1);
  return kept;  // what follows the last newline was cut short by a crash
}

JsonLog::JsonLog(const std::string& path, const Keep& keep) : path_(path) {
  io::check_replaceable(path);
  io::write_text_atomically(path, keep_json_rows(io::read_text(path).value_or(""), keep));
  file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file_.is_open()) fail_to_write(path_, errno);
}

void JsonLog::add(const JsonRow& row, double now) {
  waiting_ += row.line();
  if (first_waiting_seconds_ == 0) first_waiting_seconds_ = now;
  if (now - first_waiting_seconds_ >= kMaxWaitSeconds) write_rows();
}

void JsonLog::add_at_once(const JsonRow& row) const {
  append(file_, row.line());
}

void JsonLog::write_rows() {
  if (const int error = append(file_, waiting_); error != 0) fail_to_write(path_, error);
  waiting_.clear();
  first_waiting_seconds_ = 0;
}

}  // namespace convoy
