/// The file log.jsonl: events of a run, one JSON object per line, for programs that read it while the run continues.
/// Used by rank 0 only.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "telemetry/log_file.h"

namespace convoy {

/// Builds a line of log.jsonl. Kinds and names of fields are written as they are: letters, digits and '_'.
class JsonRow {
 public:
  /// `kind` says what the row is about: "step", "epoch", "warning" ... `time` is the time of the event in seconds since
  /// 1970. `step` is the training step that it belongs to; 0 before the first.
  JsonRow(std::string_view kind, double time, std::int64_t step);

  /// Adds a field.
  JsonRow& add(std::string_view name, std::string_view text);
  JsonRow& add(std::string_view name, const char* text) { return add(name, std::string_view(text)); }
  JsonRow& add(std::string_view name, double value);  ///< written exactly; null if it is infinite or NaN
  JsonRow& add(std::string_view name, std::integral auto value) {
    return add_raw(name, std::to_string(static_cast<std::int64_t>(value)));
  }

  /// The JSON object as text, with a newline at its end.
  std::string line() const { return text_ + "}\n"; }

 private:
  JsonRow& add_raw(std::string_view name, std::string_view value);

  std::string text_;
};

/// Writes log.jsonl.
class JsonLog {
 public:
  /// Which rows of an existing file are kept: those of steps up to these numbers. `steps` = 0: no row is kept.
  struct Keep {
    std::int64_t steps = 0;   ///< for all rows except those of kind "epoch"
    std::int64_t epochs = 0;  ///< for rows of kind "epoch"; also a number of a step
  };

  /// Opens the file at `path`, and removes the rows that `keep` does not keep. Throws Error with the file and the
  /// system's reason.
  JsonLog(const std::string& path, const Keep& keep);

  /// Adds a row. Writes all waiting rows to the file if the oldest has waited for kMaxWaitSeconds; throws Error if it
  /// cannot. `now` is the result of now_seconds().
  void add(const JsonRow& row, double now) { file_.add(row.line(), now); }
  /// Writes a row at once, before rows that wait. Any thread may call it. Errors (a full disk) are ignored.
  void add_at_once(const JsonRow& row) const { file_.add_at_once(row.line()); }
  /// Gives all rows to the system, so that they survive if this process is killed. Does not wait for the disk. Throws
  /// Error if the file cannot be written.
  void write_rows() { file_.write(); }

  /// Rows of add() wait until one is added at least this time, in seconds, after the oldest, or until write_rows().
  static constexpr double kMaxWaitSeconds = 2;

 private:
  LogFile file_;
};

}  // namespace convoy
