/// Writes an array of numbers to a file in NumPy's format (.npy), row by row, for numpy.load.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoy/io/atomic_file.h"

namespace convoy::io {

/// Whether NpyWriter wrote the file. Throws Error if it cannot be read.
bool is_own_npy(const std::string& path);

/// Writes a file with an array of float32, row by row. All members throw Error. Until commit() there is only a
/// temporary file, which the destructor removes.
class NpyWriter {
 public:
  /// `dims` are the extents of a row, and `max_rows` is the number of rows that the file may get.
  NpyWriter(const std::string& path, std::vector<std::int64_t> dims, std::int64_t max_rows);

  /// Appends the values of rows.
  void append(std::span<const float> values);
  /// Completes the file and flushes it to the disk. Throws Error if the last row is not complete.
  void finish();
  /// Renames the finished file to its final name.
  void commit() { file_.commit(); }

 private:
  std::vector<std::int64_t> dims_;
  std::int64_t width_, num_values_ = 0;  ///< number of values of a row, and of all rows
  AtomicFile file_;
};

}  // namespace convoy::io
