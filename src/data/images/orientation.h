/// Reads the orientation of the camera from a photograph's Exif data, and turns pixels accordingly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/images/decode_image.h"

namespace convoy {

/// The steps that turn a stored picture into the one that people should see: reverse the order of rows, reverse the
/// order of columns, then exchange rows and columns (transpose).
struct Orientation {
  bool transposed = false, rows_reversed = false, columns_reversed = false;
  bool operator==(const Orientation&) const = default;
};

/// Returns the orientation in the first Exif segment of a JPEG file. If it is missing or malformed, or the file is a
/// PNG, no step is set. `file` may be cut off after the header of its first scan; no byte outside of it is read. Exif
/// 2.3: 4.5 (the segment and its directory), 4.6.4 (tag 274).
Orientation exif_orientation(std::span<const std::byte> file);

/// Returns the window of a stored picture (h,w) that becomes the window `seen` when the picture is turned.
Window stored_window(const Window& seen, Orientation orientation, std::int64_t h, std::int64_t w);

/// Turns the part `stored` of a stored picture (h,w). The result is written to `pixels`, which is resized as needed.
/// Returns a view of it.
ImageView turned(const ImageView& stored, Orientation orientation, std::int64_t h, std::int64_t w,
                 std::vector<std::uint8_t>& pixels);

}  // namespace convoy
