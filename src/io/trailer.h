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

/// Kinds of files, the trailer's first eight bytes; after them come the size (little-endian 64 bit) and the XXH3-128.
namespace magic {
inline constexpr std::string_view kCheckpoint = "CONVOYCK";  ///< a checkpoint with all its values
inline constexpr std::string_view kCheckpointOfParts =
    "CONVOYCL";                                        ///< a checkpoint whose values are in the files that it lists
inline constexpr std::string_view kPart = "CONVOYCP";  ///< one of those files
}  // namespace magic

/// A kind of file that a reader accepts, and its name in messages: "checkpoint".
struct FileKind {
  std::string name;
  std::vector<std::string_view> magics;
};

/// Checkpoints: both in one file and in parts.
const FileKind& checkpoint_kind();

void append_trailer(std::vector<std::byte>& bytes, std::string_view magic);

/// Whether the bytes (of a whole file, or its last ones) end with a trailer that begins with `magic`.
bool ends_with(std::span<const std::byte> bytes, std::string_view magic);

/// Returns the reason if the bytes are no whole file of the kind; else nothing.
std::optional<std::string> find_damage(std::span<const std::byte> bytes, const FileKind& kind);

/// Returns the last 32 bytes of a file, or fewer if it is shorter. Throws Error if it cannot be read.
std::vector<std::byte> read_trailer(const std::string& path);

/// Returns the bytes of a whole file of the kind. Its trailer is read first: a file of another kind, or of another size
/// than its trailer says, takes neither time nor memory, however large it is. Throws Error with the reason.
std::vector<std::byte> read_with_trailer(const std::string& path, const FileKind& kind);

}  // namespace convoy::io
