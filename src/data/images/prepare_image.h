/// Turns what a data set stores of an image into bytes of the network's size: decoded, cropped, resized, edited. Of a
/// JPEG only what is seen is decoded, so that damage elsewhere in a file may go unnoticed; an import reads whole files.
/// The centre of a picture gives the same bytes from the file and from an import of it as pixels; random parts, which
/// only training sees, may be decoded at 1/2, 1/4 or 1/8 of their size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/images/augmenter.h"
#include "data/images/decode_image.h"
#include "data/images/resample.h"

namespace convoy {

/// One sample of a micro-batch.
struct ImageOrder {
  const std::uint8_t* image = nullptr;  ///< (H,W,C), of a raw data set
  std::span<const std::byte> file;      ///< of an encoded one
  std::int64_t epoch = 0;
  std::int64_t sample = 0;
};

struct PreparedImage {
  const std::uint8_t* pixels = nullptr;  ///< of Augmenter::image()
  ops::ImageCut cut;                     ///< what is still to be done
};

/// Keeps its memory. One per thread; augmenter outlives it.
class ImagePreparer {
 public:
  /// `orients`: files are turned as their Exif orientation says.
  explicit ImagePreparer(const Augmenter& augmenter, bool orients = false)
      : augmenter_(&augmenter), decoder_(orients) {}

  /// Holds until the next call. Throws Error saying what is wrong with the file.
  PreparedImage prepare(const ImageOrder& order);

 private:
  struct Part {
    DecodeRequest request;
    ImageShape shape;  ///< of the whole picture, as it is decoded
    PixelGrid grid;    ///< of the network's input in it
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
