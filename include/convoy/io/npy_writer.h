/// Writes an array of numbers to a file in NumPy's format (.npy), row by row, for numpy.load.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "convoy/io/atomic_file.h"

namespace convoy::io {

/// Whether NpyWriter wrote the file. Throws Error if it cannot be read.
bool is_own_npy(const std::string& path);

/// Writes a file with an array (rows, width) of float32. All members throw Error. Until commit() there is only a
/// temporary file, which the destructor removes.
class NpyWriter {
 public:
  /// `max_rows` is the number of rows that the file may get.
  NpyWriter(const std::string& path, std::int64_t width, std::int64_t max_rows);

  /// Appends rows: (count, width) values.
  void append(std::span<const float> values);
  /// Completes the file and flushes it to the disk. Throws Error if the last row is not complete.
  void finish();
  /// Renames the finished file to its final name.
  void commit() { file_.commit(); }

 private:
  std::int64_t width_, num_values_ = 0;
  AtomicFile file_;
};

}  // namespace convoy::io
