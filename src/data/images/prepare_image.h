/// Turns an image of a data set into bytes of the size of the network's input: decodes, crops, resizes and edits it.
/// Only the part of a JPEG that the network sees is decoded, so damage in other parts of a file may go unnoticed; an
/// import reads whole files. The centre crop of a picture has the same bytes whether it comes from the file or from an
/// import as pixels. Random crops, which only training uses, may be decoded at 1/2, 1/4 or 1/8 of the picture's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/images/augmenter.h"
#include "data/images/auto_augment.h"
#include "data/images/decode_image.h"
#include "data/images/resample.h"

namespace convoy {

/// An image to be prepared.
struct ImageOrder {
  const std::uint8_t* image = nullptr;  ///< pixels (H,W,C), if the data set stores pixels; else null
  std::span<const std::byte> file;      ///< bytes of the image file, if the data set stores files
  std::int64_t epoch = 0;
  std::int64_t sample = 0;  ///< index of the sample in the data set; with the epoch, it chooses the random numbers
};

struct PreparedImage {
  const std::uint8_t* pixels = nullptr;  ///< pixels (H,W,C) of the shape Augmenter::image()
  ops::ImageCut cut;                     ///< the crop, flip and erased box that the device must still apply
};

/// Prepares images one after the other. It keeps memory from image to image, so each thread needs its own preparer.
class ImagePreparer {
 public:
  /// If `orients`, the pictures of files are turned as their Exif orientation says. `augmenter` must outlive the
  /// preparer.
  explicit ImagePreparer(const Augmenter& augmenter, bool orients = false)
      : augmenter_(&augmenter), decoder_(orients) {}

  /// Returns the prepared image, valid until the next call. Throws Error with a reason if the file is faulty.
  PreparedImage prepare(const ImageOrder& order);

 private:
  /// The part of a picture that the network sees.
  struct Part {
    DecodeRequest request;
    ImageShape shape;  ///< shape of the whole decoded picture, which may be smaller than in the file
    PixelGrid grid;    ///< positions of the pixels of the network's input in the decoded picture
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
