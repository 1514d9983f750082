/// Writes and verifies trailers.
#include "io/trailer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"
#include "convoy/io/foreign_kind.h"

#include "io/hash.h"
#include "io/little_endian.h"

namespace convoy::io {

namespace {

constexpr std::size_t kMagicBytes = 8;

std::string too_short(std::uint64_t size, const FileKind& kind) {
  return fmt::format("it is too short for a {}: {} bytes", kind.name, size);
}

// Returns the damage that shows without reading the `image_bytes` bytes before the trailer; nothing if none.
std::optional<std::string> find_damage_in_trailer(std::span<const std::byte> trailer, std::uint64_t image_bytes,
                                                  const FileKind& kind) {
  const auto is_of = [&](std::string_view magic) { return ends_with(trailer, magic); };
  if (std::ranges::none_of(kind.magics, is_of))
    return fmt::format("it is truncated, or it is not a {0}: its last 32 bytes are not those of a {0}", kind.name);
  const std::uint64_t stated = get_u64(trailer.subspan<kMagicBytes, 8>());
  if (stated != image_bytes)
    return fmt::format("it is truncated or damaged: it holds {} bytes, but the size stored at its end is {}",
                       image_bytes, stated);
  return std::nullopt;
}

}  // namespace

const FileKind& checkpoint_kind() {
  static const FileKind kKind{.name = "checkpoint", .magics = {magic::kCheckpoint, magic::kCheckpointOfParts}};
  return kKind;
}

void append_trailer(std::vector<std::byte>& bytes, std::string_view magic) {
  const std::size_t image_bytes = bytes.size();
  const Hash hash = hash_of(bytes);
  bytes.resize(image_bytes + kTrailerBytes);
  const auto trailer = std::span(bytes).last<kTrailerBytes>();
  std::memcpy(trailer.data(), magic.data(), kMagicBytes);
  put_u64(trailer.subspan<kMagicBytes, 8>(), image_bytes);
  std::copy(hash.begin(), hash.end(), trailer.begin() + 16);
}

bool ends_with(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= kTrailerBytes && std::memcmp(bytes.last(kTrailerBytes).data(), magic.data(), kMagicBytes) == 0;
}

std::optional<std::string> find_damage(std::span<const std::byte> bytes, const FileKind& kind) {
  if (bytes.size() <= kTrailerBytes) return too_short(bytes.size(), kind);
  const auto trailer = bytes.last(kTrailerBytes), image = bytes.first(bytes.size() - kTrailerBytes);
  if (auto damage = find_damage_in_trailer(trailer, image.size(), kind)) return damage;
  const Hash hash = hash_of(image);
  if (!std::equal(hash.begin(), hash.end(), trailer.begin() + 16)) return "it is damaged: its hash (XXH3-128) differs";
  return std::nullopt;
}

std::vector<std::byte> read_trailer(const std::string& path) {
  const FileDescriptor file = open_for_reading(path);
  const std::uint64_t size = file_size(file, path);
  std::vector<std::byte> trailer(std::min<std::uint64_t>(size, kTrailerBytes));
  read_at(file, size - trailer.size(), trailer, path);
  return trailer;
}

std::vector<std::byte> read_with_trailer(const std::string& path, const FileKind& kind) {
  const FileDescriptor file = open_for_reading(path);
  const std::uint64_t size = file_size(file, path);
  const auto fail_naming_kind = [&](const std::string& damage) {
    if (const auto foreign = find_foreign_kind(path))
      fail("it is {}, not a {}. {}", foreign->name, kind.name, foreign->remedy);
    fail("{}", damage);
  };
  if (size <= kTrailerBytes) fail_naming_kind(too_short(size, kind));
  std::vector<std::byte> trailer(kTrailerBytes);
  read_at(file, size - kTrailerBytes, trailer, path);
  if (const auto damage = find_damage_in_trailer(trailer, size - kTrailerBytes, kind)) fail_naming_kind(*damage);
  std::vector<std::byte> bytes = read_whole(file, path);
  if (const auto damage = find_damage(bytes, kind)) fail("{}", *damage);
  return bytes;
}

}  // namespace convoy::io
