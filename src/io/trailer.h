/// The trailer of checkpoint files, their last 32 bytes: the kind of file, and the size and the hash of the bytes
/// before the trailer.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoy::io {

inline constexpr std::size_t kTrailerBytes = 32;

/// The first eight bytes of a trailer, which tell the kind of file. They are followed by the size (64 bits,
/// little-endian) and the XXH3-128 of the bytes before the trailer.
namespace magic {
inline constexpr std::string_view kCheckpoint = "CONVOYCK";  ///< a checkpoint in one file
inline constexpr std::string_view kCheckpointOfParts =
    "CONVOYCL";                                        ///< the list of a checkpoint in parts; values are in other files
inline constexpr std::string_view kPart = "CONVOYCP";  ///< a file with values of a checkpoint in parts
}  // namespace magic

/// The kinds of files that a reader accepts.
struct FileKind {
  std::string name;                      ///< name of such files in messages: "checkpoint"
  std::vector<std::string_view> magics;  ///< the accepted first bytes of the trailer, from namespace magic
};

/// Returns the kind of checkpoints, in one file or in parts.
const FileKind& checkpoint_kind();

/// Appends the trailer for `bytes`, the content of a file, to them.
void append_trailer(std::vector<std::byte>& bytes, std::string_view magic);

/// Returns whether `bytes` (a whole file, or its end) end with a trailer that begins with `magic`, which has 8 bytes.
/// False if there are fewer bytes than a trailer has.
bool ends_with(std::span<const std::byte> bytes, std::string_view magic);

/// Returns a description of the damage ("it is ...") if `bytes` are not an undamaged file of this kind; else nothing.
std::optional<std::string> find_damage(std::span<const std::byte> bytes, const FileKind& kind);

/// Returns the last 32 bytes of a file, or fewer if it is shorter. Throws Error if it cannot be read.
std::vector<std::byte> read_trailer(const std::string& path);

/// Reads and verifies a whole file of this kind, and returns its bytes. The trailer is read first, so a large file of
/// another kind, or of another size than its trailer says, costs neither time nor memory. Throws Error with a
/// description of the damage.
std::vector<std::byte> read_with_trailer(const std::string& path, const FileKind& kind);

}  // namespace convoy::io
