/// Turns an image of a data set into bytes of the network's size: decoded, cropped, resized, edited. Only the part of a
/// JPEG that is seen is decoded, so damage elsewhere in a file may go unnoticed; an import reads whole files. The
/// centre of a picture gives the same bytes from the file and from an import of it as pixels; random parts, which only
/// training sees, may be decoded at 1/2, 1/4 or 1/8 of their size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/images/augmenter.h"
#include "data/images/decode_image.h"
#include "data/images/resample.h"

namespace convoy {

/// A request for one sample of a micro-batch.
struct ImageOrder {
  const std::uint8_t* image = nullptr;  ///< pixels (H,W,C) from a raw data set
  std::span<const std::byte> file;      ///< bytes of the file from an encoded data set
  std::int64_t epoch = 0;
  std::int64_t sample = 0;
};

struct PreparedImage {
  const std::uint8_t* pixels = nullptr;  ///< pixels (H,W,C) of Augmenter::image()
  ops::ImageCut cut;                     ///< the cut that is still to be made
};

/// Prepares images, one after the other, in memory that it keeps. Each thread has its own; `augmenter` outlives it.
class ImagePreparer {
 public:
  /// `orients`: files are turned as their Exif orientation says.
  explicit ImagePreparer(const Augmenter& augmenter, bool orients = false)
      : augmenter_(&augmenter), decoder_(orients) {}

  /// Returns the prepared image, valid until the next call. Throws Error with a reason if the file is faulty.
  PreparedImage prepare(const ImageOrder& order);

 private:
  struct Part {
    DecodeRequest request;
    ImageShape shape;  ///< shape of the whole picture, as it is decoded
    PixelGrid grid;    ///< positions of the network's pixels in it
  };
  Part random_part(const ImageHeader& header, const ImageOrder& order) const;
  Part part_seen(const ImageHeader& header, const ImageOrder& order) const;
  const std::uint8_t* edit(const std::uint8_t* pixels, const ops::ImageCut& cut, const ImageOrder& order);

  const Augmenter* augmenter_;
  ImageDecoder decoder_;
  Resampler resampler_;
  ImageEditor editor_;
  std::vector<std::uint8_t> resized_, edited_;
};

}  // namespace convoy
