/// The files that a run extends while it trains: texts are appended to them, and a restart keeps the rows of earlier
/// steps. Used by rank 0 only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/file_descriptor.h"

namespace convoy {

/// A file to which texts are appended. They wait in memory for a while, since a call of the system for each row would
/// cost too much. All members throw Error with the path and the system's reason if they cannot write.
class LogFile {
 public:
  /// Appends to the open `file` at `path`. Texts wait until one is added at least
  /// `max_wait_seconds` after the oldest.
  LogFile(std::string path, FileDescriptor file, double max_wait_seconds);
  /// Replaces the file at `path` by one that holds `text`, and appends to it. Also throws if the path exists and is not
  /// a regular file.
  LogFile(const std::string& path, const std::string& text, double max_wait_seconds);
  /// Writes the texts that wait; errors are ignored.
  ~LogFile();
  LogFile(LogFile&&) = default;
  LogFile& operator=(LogFile&&) = default;

  const std::string& path() const { return path_; }
  /// Adds a text. Writes all waiting texts if the oldest has waited for max_wait_seconds. `now` is the result of
  /// now_seconds().
  void add(std::string_view text, double now);
  /// Writes a text at once, before those that wait. Any thread may call it. Errors (a full disk) are ignored.
  void add_at_once(std::string_view text) const { append(text); }
  /// Gives all texts to the system, so that they survive if this process is killed. Does not wait for the disk.
  void write();
  /// Waits until all written texts are on the disk. Any thread may call it.
  void sync() const;

 private:
  /// Appends the text, and removes from it what was written. Returns 0, or the errno of a failure.
  int append(std::string_view& text) const;
  void check(int error_number) const;

  std::string path_;
  FileDescriptor file_;
  double max_wait_seconds_;
  std::string waiting_;               ///< texts that are not written yet
  double first_waiting_seconds_ = 0;  ///< now_seconds() when the first of these was added; 0: there is none
};

/// Returns the lines of the text without their newlines. What follows the last newline is left out: in a file that a
/// process was writing, this line was cut short.
std::vector<std::string_view> whole_lines(std::string_view text);

/// The columns of a table.
struct LogColumns {
  std::string_view header;         ///< names of the columns, separated by commas
  std::ptrdiff_t step_column = 0;  ///< index of the column that has the step's number
  bool is_sorted = true;           ///< whether the steps of the rows ascend
};

/// The steps of which a table must have rows from earlier starts: the multiples of `every` from `first` to `last`, and
/// `last` itself. If it is not known at which step the run began, `first` is 0: then rows are expected from the first
/// existing one on.
struct ExpectedRows {
  std::int64_t first = 1, last = 0, every = 1;
};

/// The result of keep_rows().
struct KeptRows {
  std::string text;       ///< the rows, each with its newline, without the header
  std::string lost = {};  ///< a sentence about expected rows that are missing; empty if there are none
};

/// Returns the rows of `text` (the content of a table) whose steps are at most `last_step`. Rows that are incomplete,
/// out of order or not of this table are left out, and counted as missing. Rows of an older version with fewer columns
/// get empty fields. `path` names the table in the sentence.
KeptRows keep_rows(const std::string& path, std::string_view text, const LogColumns& columns, std::int64_t last_step,
                   const ExpectedRows& expected = {});

}  // namespace convoy
