/// From what a data set stores of a sample to bytes of the network's size: decoded, cropped and resized, colours
/// changed. Of a JPEG only what is seen is decoded, so that damage elsewhere in a file may go unnoticed; an import
/// reads whole files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/data/loader.h"

#include "data/decode_image.h"
#include "data/resample.h"

namespace convoy {

/// One place of a micro-batch.
struct ImageOrder {
  const std::uint8_t* image = nullptr;  ///< (H,W,C), of a raw data set
  std::span<const std::byte> file;      ///< of an encoded one
  std::int64_t epoch = 0;
  std::int64_t sample = 0;
  bool black = false;  ///< nothing stands here, behind the last sample
};

struct PreparedImage {
  const std::uint8_t* pixels = nullptr;  ///< of Augmenter::image()
  ops::ImageCut cut;                     ///< what is still to be done
};

/// Keeps its memory. One a thread; augmenter outlives it.
class ImagePreparer {
 public:
  explicit ImagePreparer(const Augmenter& augmenter) : augmenter_(&augmenter) {}

  /// Holds until the next call. Throws Error saying what is wrong with the file.
  PreparedImage prepare(const ImageOrder& order);

 private:
  Region seen(const ImageShape& image, const ImageOrder& order) const;
  DecodeRequest request_for(const ImageShape& full, const Region& region) const;
  const std::uint8_t* change_colours(const std::uint8_t* pixels, const ops::ImageCut& cut, const ImageOrder& order);

  const Augmenter* augmenter_;
  ImageDecoder decoder_;
  Resampler resampler_;
  std::vector<std::uint8_t> resized_, coloured_;
};

}  // namespace convoy
