/// A part of all samples of users' files: an array in them, or columns of their tables. Reads ahead in blocks, since
/// samples are read in ascending order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/element_type.h"

#include "data/arrays/array_files.h"
#include "data/arrays/joined_table.h"

namespace convoy {

/// The values or texts of one part. One thread may use it at a time. `row` is the number of a sample, from 0; reading
/// is fast if rows ascend. Functions that read throw Error naming the file if it is damaged.
class SamplePart {
 public:
  virtual ~SamplePart() = default;

  /// The type of the values: float64 for a table, whose fields may also be texts. Empty if all are texts.
  virtual std::optional<ElementType> type() const = 0;
  /// Extents of a sample, in the order of the file; empty for one value. A table has the number of its columns.
  virtual const std::vector<std::int64_t>& dims() const = 0;
  /// Names of the columns, of a table alone.
  virtual const std::vector<std::string>& columns() const = 0;
  /// Number of values of a sample.
  std::int64_t num_values() const;

  /// Whether there is such a row. A table whose rows are not known yet is read up to the row.
  virtual bool has(std::int64_t row) = 0;
  /// Number of rows. A table whose rows are not known yet is read up to its end.
  virtual std::int64_t num_samples() = 0;
  /// The values of a row as the file has them, in the byte order of this machine; valid until the next call. Throws
  /// Error, with line and column, if a field of a table is no number.
  virtual std::span<const std::byte> values(std::int64_t row) = 0;
  /// One value of a row as a text: the field of a table, the text of an array, or the digits of an integer. Valid until
  /// the next call. Throws Error if the array has other values.
  virtual std::string_view text(std::int64_t row, std::int64_t value) = 0;
  /// Where the row is: "x.npy:17", counted from 0, or "wine.csv:18", the line, counted from 1.
  virtual std::string place(std::int64_t row) = 0;
};

/// The tables that are open, each once, so that parts of one table read each row once.
using OpenTables = std::map<std::vector<std::string>, std::shared_ptr<JoinedTable>>;

/// Opens a part. Throws RequestError as the readers of convoy/io/array_reader.h and JoinedTable do, and if the arrays
/// of several files differ in type or extents. It reads ahead up to `block_bytes`, or one sample if that is larger.
std::unique_ptr<SamplePart> open_part(const PartLocation& location, OpenTables& tables, std::int64_t block_bytes);

/// Returns the name by which a part is found in files of the same layout: its array in .npz and HDF5 files, or its only
/// column. Empty if there is none, or if data sets and checkpoints cannot hold it.
std::string source_of(const PartLocation& location);

}  // namespace convoy
