/// Reads pictures with the numbers that their files have, of 16 bits or as floats and of any number of channels, in
/// place of the 8 bits of grey or RGB that data/images decodes to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "convoy/base/element_type.h"

namespace convoy {

/// The form of a picture: (h, w, channels) numbers.
struct PictureForm {
  ElementType type = ElementType::kUint8;
  std::int64_t h = 0, w = 0, channels = 0;

  std::int64_t bytes() const { return h * w * channels * size_of(type); }
  bool operator==(const PictureForm&) const = default;
};

std::string to_string(const PictureForm& form);  ///< "uint16 (64, 64, 7)"

/// A picture whose header was read; `file` must outlive it.
class PictureReading {
 public:
  virtual ~PictureReading() = default;
  virtual PictureForm form() const = 0;
  /// Reads its numbers, the channels fastest, to form().bytes() bytes. Only once. Throws Error with a reason if the
  /// file is damaged.
  virtual void read(std::span<std::byte> numbers) = 0;
};

/// Reads the header of a PNG or TIFF file in memory. Throws Error with a reason ("it is ...") if it is neither, is
/// damaged, is larger than kMaxImageSide or 2 GiB, or has what has no numbers: several pages, palettes or YCbCr in
/// TIFF.
std::unique_ptr<PictureReading> begin_picture(std::span<const std::byte> file);

/// For begin_picture().
std::unique_ptr<PictureReading> begin_tiff(std::span<const std::byte> file);

/// Whether the first bytes of a file are those of PNG or TIFF.
bool is_picture(const std::string& path);

}  // namespace convoy
