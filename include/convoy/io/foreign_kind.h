/// Recognises files of other programs by their first bytes, for messages about files that Convoy does not read.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace convoy::io {

/// The number of first bytes of a file that identify every known kind.
inline constexpr std::size_t kForeignKindBytes = 512;

struct ForeignKind {
  const char* name;    ///< description of the kind: "a WebP image"
  const char* remedy;  ///< advice for the user, "Convert it to PNG, ...", a sentence without its full stop
};

/// Returns the kind of a file that begins with these bytes; nothing if the kind is unknown or Convoy can read it.
std::optional<ForeignKind> find_foreign_kind(std::span<const std::byte> begin);

/// Returns the kind of the file at this path; nothing if the kind is unknown, Convoy can read it, or the file cannot be
/// opened.
std::optional<ForeignKind> find_foreign_kind(const std::string& path);

/// Returns a sentence about a file of HDF5 that convoy import has not made: the arrays in it, and the commands that
/// read them. Empty if HDF5 cannot open the file, or if it has what a data set of Convoy has.
std::string describe_foreign_hdf5(const std::string& path);

}  // namespace convoy::io
