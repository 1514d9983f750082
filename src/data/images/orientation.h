/// Reads the orientation of the camera from a photograph's Exif data, and turns pixels accordingly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/images/decode_image.h"

namespace convoy {

/// Steps that make the stored picture the one that is seen: rows in reverse order, columns in reverse order, then rows
/// and columns exchanged.
struct Orientation {
  bool transposed = false, rows_reversed = false, columns_reversed = false;
  bool operator==(const Orientation&) const = default;
};

/// Returns the orientation in the first Exif segment of a JPEG; none if it is missing or malformed, and none for a PNG.
/// Reads no byte outside of `file`, which may be cut off after its first scan's header. Exif 2.3: 4.5 (the segment and
/// its directory), 4.6.4 (tag 274).
Orientation exif_orientation(std::span<const std::byte> file);

/// Returns the part of the stored picture (h,w) that is seen as `seen` after turning.
Window stored_window(const Window& seen, Orientation orientation, std::int64_t h, std::int64_t w);

/// Turns a part of a stored picture (h,w). Returns a view of `pixels`, which are resized as needed.
ImageView turned(const ImageView& stored, Orientation orientation, std::int64_t h, std::int64_t w,
                 std::vector<std::uint8_t>& pixels);

}  // namespace convoy
