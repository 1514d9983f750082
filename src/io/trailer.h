/// The last 32 bytes of a file that is written in one go: its kind, the size and the hash of what is before them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoy::io {

inline constexpr std::size_t kTrailerBytes = 32;

/// Kinds of files, in the trailer's first eight bytes; after them come the size (little-endian 64 bit) and the
/// XXH3-128.
namespace magic {
inline constexpr std::string_view kCheckpoint = "CONVOYCK";         ///< with all its values
inline constexpr std::string_view kCheckpointOfParts = "CONVOYCL";  ///< its values are in the files that it lists
inline constexpr std::string_view kPart = "CONVOYCP";               ///< one of those
}  // namespace magic

/// What a reader takes, and how it calls that: "checkpoint".
struct FileKind {
  std::string name;
  std::vector<std::string_view> magics;
};

/// Both kinds of checkpoints.
const FileKind& checkpoint_kind();

void append_trailer(std::vector<std::byte>& bytes, std::string_view magic);

/// Whether the bytes, a file's or its last ones, end with a trailer of that kind.
bool ends_with(std::span<const std::byte> bytes, std::string_view magic);

/// Why this is no whole file of the kind; nothing where it is one.
std::optional<std::string> find_damage(std::span<const std::byte> bytes, const FileKind& kind);

/// The last 32 bytes of a file, or fewer where it is shorter. Throws Error where it cannot be read.
std::vector<std::byte> read_trailer(const std::string& path);

/// The bytes of a whole file of the kind. Its trailer is read first: a file of another kind, or of another size than
/// its trailer says, takes neither time nor memory, however large it is. Throws Error with the reason.
std::vector<std::byte> read_with_trailer(const std::string& path, const FileKind& kind);

}  // namespace convoy::io
