/// The kind of a file by its first bytes, for messages about files that Convoy does not read.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace convoy::io {

/// The number of first bytes of a file that identify every known kind.
inline constexpr std::size_t kForeignKindBytes = 512;

struct ForeignKind {
  const char* name;    ///< "a WebP image"
  const char* remedy;  ///< "Convert it to PNG, ...", a sentence without its full stop
};

/// The kind of a file that begins with these bytes. Nothing for files that Convoy reads, and for unknown ones.
std::optional<ForeignKind> find_foreign_kind(std::span<const std::byte> begin);

/// The kind of the file at this path; also nothing if it cannot be read.
std::optional<ForeignKind> find_foreign_kind(const std::string& path);

}  // namespace convoy::io
