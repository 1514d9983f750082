/// Finds the files, and the arrays or columns in them, that a user means by a short text such as all.npz:spectrum.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convoy/io/array_reader.h"

namespace convoy {

/// kPictures: files of one sample each (data/arrays/picture_part.h).
enum class ArrayFileKind { kNpy, kNpz, kHdf5, kTable, kPictures };

/// Returns the kind of a file by its first bytes, else by its name; nothing if it holds no arrays and is no table.
std::optional<ArrayFileKind> find_array_file_kind(const std::string& path);

/// Files of one kind; the samples of each follow those of the file before it.
struct ArrayFiles {
  ArrayFileKind kind = ArrayFileKind::kNpy;
  std::vector<std::string> paths;

  bool operator==(const ArrayFiles&) const = default;
};

/// Where a part of all samples is: an array in files, or columns of tables.
struct PartLocation {
  ArrayFiles files;
  std::string array = {};                 ///< only of .npz and HDF5: the name of the array
  std::vector<std::string> columns = {};  ///< only of tables: the names of the columns
  bool names_file = false;                ///< whether the user named the files, and not only what is in them

  bool operator==(const PartLocation&) const = default;
};

/// One part of the samples, as a user or a checkpoint names it.
struct PartSpec {
  std::string name = {};  ///< name of the array of a sample; empty: none was given
  /// FILE, FOLDER, FILE:NAME, or NAME, an array or columns of the source itself; empty: found by `name`, or the only
  /// one. Columns are separated by |, and may have the wildcards * and ?. Those after a minus are left out.
  std::string where = {};
  std::vector<std::string> columns = {};  ///< names of a table's columns that are used if `where` is empty
  /// Name of the array of a .npz or HDF5 file that is used if `where` is empty and the file has it; before `name`.
  std::string array = {};
  /// Extents of the array of a sample, channels last, that are expected; empty: any.
  std::vector<std::int64_t> dims = {};
};

/// Divides import.inputs, "spectrum: x, position: all.npz:p", into its parts. A name is followed by a colon and has no
/// point and no slash. Throws RequestError naming the key `key` if a part is empty.
std::vector<PartSpec> parse_parts(const std::string& text, const std::string& key);

/// Finds parts in a source, a file or a folder. Not for use on several ranks at once: rank 0 lists, and sends.
class ArrayFinder {
 public:
  /// `key` is the parameter that gave the source, for messages. Throws RequestError if there is no such file or folder,
  /// or if a file is of another kind.
  ArrayFinder(std::string source, std::string key);

  /// Finds the part of which the user says where it is, in the value of the parameter `key`. Columns that wildcards
  /// match are left out if `taken` has them. Throws RequestError, with the names that there are, if there is none.
  PartLocation find(const std::string& where, const std::string& key, std::span<const PartLocation> taken = {}) const;
  /// Whether find() finds the part. Throws RequestError if a file there cannot be read.
  bool has(const std::string& where) const { return find_anywhere(where, {}).has_value(); }
  /// Finds an input, in the value of the parameter `key`: as find() if the user says where it is; else by its name, or
  /// the only one that is not in `taken`. Throws RequestError if there is none, or more than one.
  PartLocation find_input(const PartSpec& part, const std::string& key, std::span<const PartLocation> taken) const;

 private:
  std::optional<PartLocation> find_anywhere(const std::string& where, std::span<const PartLocation> taken) const;
  std::optional<ArrayFiles> own_files(std::span<const PartLocation> taken) const;
  std::optional<PartLocation> find_name(const std::string& where, std::span<const PartLocation> taken) const;
  std::optional<PartLocation> find_path(const std::string& folder, const std::string& where,
                                        std::span<const PartLocation> taken) const;
  PartLocation find_only(const ArrayFiles& files, const PartSpec& part, const std::string& key,
                         std::span<const PartLocation> taken) const;
  [[noreturn]] void refuse_where(const std::string& where, const std::string& key) const;

  std::string source_, key_;
  bool is_folder_ = false;
};

/// Returns the names of the arrays or columns in the first of the files; empty for .npy.
std::vector<std::string> names_in(const ArrayFiles& files);

/// Opens an array of one file of arrays. `array` is its name, and is not used for .npy. Throws RequestError as the
/// readers of convoy/io/array_reader.h do.
std::unique_ptr<io::ArrayReader> open_array(ArrayFileKind kind, const std::string& path, const std::string& array);

}  // namespace convoy
