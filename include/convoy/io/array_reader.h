/// Reads arrays from users' files, a range of samples at a time, so that an array may be larger than memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/element_type.h"

namespace convoy::io {

/// The largest number of extents that an array may have: samples, and channels, slices, rows and columns of each.
inline constexpr std::size_t kMaxArrayRank = 5;

/// The type and the extents of an array.
struct ArrayForm {
  std::optional<ElementType> type;  ///< type of the values; empty if they are texts
  std::vector<std::int64_t> dims;   ///< 1 to kMaxArrayRank extents, each at least 1; the first is the number of samples

  std::int64_t num_samples() const { return dims.front(); }
  /// Number of values of one sample.
  std::int64_t values_of_sample() const;
  bool operator==(const ArrayForm&) const = default;
};

std::string to_string(const ArrayForm& form);  ///< "float32 (1000, 3, 32)"; "text (1000)"

/// An open array. One thread may use it at a time.
class ArrayReader {
 public:
  virtual ~ArrayReader() = default;

  virtual const ArrayForm& form() const = 0;
  /// Reads the values of samples [first, first + count): row by row, the last index fastest, in the byte order of this
  /// machine. `values` has room for exactly these. Reading is fast if samples are read in ascending order, many at a
  /// time. Throws Error, naming the file, if it is damaged or cannot be read.
  virtual void read(std::int64_t first, std::int64_t count, std::span<std::byte> values) = 0;
  /// Reads the texts of samples [first, first + count), in UTF-8, of an array with one text for each sample. Throws
  /// Error as read() does.
  virtual std::vector<std::string> read_texts(std::int64_t first, std::int64_t count) = 0;
};

/// Opens an array that numpy.save has written (.npy), in any order and byte order. Throws RequestError naming the file
/// and what is wrong: it is no such file, is truncated or too long, has no values, has values that are not numbers or
/// texts (Python objects are never opened), or has more than kMaxArrayRank extents.
std::unique_ptr<ArrayReader> open_npy(const std::string& path);

/// Returns the names of the arrays in a file that numpy.savez or numpy.savez_compressed has written (.npz), in the
/// order of the file. Throws RequestError if it is no such file, or has none.
std::vector<std::string> names_in_npz(const std::string& path);

/// Opens an array in an .npz by its name. Throws RequestError as open_npy() does, and if there is no such array, if it
/// is encrypted, packed in another way than stored or deflated, or claims a size that its packed bytes cannot give.
std::unique_ptr<ArrayReader> open_npz(const std::string& path, const std::string& name);

/// Opens a data set of a user's HDF5 file, such as "group/x", with any chunks and filters that HDF5 reads. Each read
/// opens the file for a moment, since nothing else may use HDF5 meanwhile: read many samples at a time. Throws
/// RequestError as open_npy() does, and if there is no such data set (with the names of those that there are).
std::unique_ptr<ArrayReader> open_hdf5(const std::string& path, const std::string& dataset);

/// Returns the paths of the data sets in an HDF5 file, in alphabetical order, at most 1000. Throws RequestError if it
/// is no such file.
std::vector<std::string> names_in_hdf5(const std::string& path);

}  // namespace convoy::io
