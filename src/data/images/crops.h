/// Draws which part of a picture is seen, which is pasted into another, and which is erased.
#pragma once

#include <cstdint>

#include "convoy/base/random.h"
#include "convoy/base/shape.h"

#include "data/images/resample.h"

namespace convoy {

/// Returns the part that an evaluation sees and an import keeps: the picture is resized until its short side has
/// `short_side` pixels, and the size x size pixels in its centre are cut out: torchvision's Resize(short_side), then
/// CenterCrop(size). size <= short_side.
PixelGrid centre_crop(const ImageShape& picture, std::int64_t short_side, std::int64_t size);

/// Draws the part that random_resized shows: whole pixels of an image (H,W). Ten tries: area share uniform in
/// [min_share, 1], logarithm of width / height uniform between those of 3/4 and 4/3, position uniform if the part fits.
/// If none fits, the centre, as large as an aspect in that range allows. Draws the same as torchvision's
/// RandomResizedCrop.
Region random_resized_crop(const ImageShape& image, double min_share, const RandomKey& key);

/// A box of pixels: rows [top, bottom) and columns [left, right).
struct PixelBox {
  std::int32_t top = 0, bottom = 0, left = 0, right = 0;

  std::int64_t count() const { return std::int64_t{bottom - top} * (right - left); }
};

/// Draws the box that CutMix pastes (Yun et al. 2019) if the other image's share is to be `share`. Its sides are
/// sqrt(share) times the image's, about a uniform centre, half a side rounded down. It is cut off at the image's edges,
/// so that it may cover less. The same box as that of torchvision's CutMix for the same share and centre. Numbers 0 and
/// 1 of the key are the centre's column and row.
PixelBox cutmix_box(const ImageShape& image, double share, const RandomKey& key);

/// Draws the box that random erasing makes 0 (Zhong et al. 2020), with that probability. Ten tries: area share uniform
/// in [0.02, 0.33], logarithm of height / width uniform between those of 0.3 and 3.3, position uniform if the box
/// leaves something of each row and column. An empty box if no try fits, or if nothing is to be erased. The same box as
/// that of torchvision's RandomErasing for the same numbers: 0 of the key decides whether, 4t + 1 ... 4t + 4 are the
/// t-th try's area, aspect, row and column.
PixelBox random_erasing(const ImageShape& image, double probability, const RandomKey& key);

}  // namespace convoy
